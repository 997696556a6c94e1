#include "compare/suite.h"

#include <gtest/gtest.h>

#include "system/files.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

class SuiteTest : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string file = (directory_.path() / "suite.json").string();
    write_file(file, text);
    return file;
  }

  std::string complaint_of(const std::string& text) {
    try {
      read_suite(write(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
};

TEST_F(SuiteTest, ProgramsAreAsTheFileSays) {
  const Suite suite = read_suite(write(R"({"setup": ["python3", "{suite}/inputs.py"],
    "environment": {"HOME": "{work}"},
    "programs": [{"name": "sorted", "command": ["sort", "a"], "stdin": "b", "output": "any"},
                 {"name": "true", "command": ["true"], "small": true}]})"));
  EXPECT_EQ(suite.setup.back(), (directory_.path() / "inputs.py").string());
  EXPECT_EQ(suite.environment.front().second, "{work}");
  ASSERT_EQ(suite.programs.size(), 2u);
  EXPECT_EQ(suite.programs[0].stdin_path, "b");
  EXPECT_FALSE(suite.programs[0].is_output_compared);
  EXPECT_TRUE(suite.programs[1].is_small);
  EXPECT_TRUE(suite.programs[1].is_output_compared);
}

TEST_F(SuiteTest, AFileThatIsNoSuiteIsRefusedInOneLine) {
  for (const char* text : {"", "{", "[]", "{}", R"({"programs": 3})", R"({"programs": [{"name": "x"}]})",
                           R"({"programs": [{"name": "x", "command": []}]})"})
    EXPECT_NE(complaint_of(text).find("is no suite"), std::string::npos) << text;
  EXPECT_THROW(read_suite("/nowhere/suite.json"), UsageError);
  EXPECT_THROW(read_suite("nonexistent"), UsageError);
}

TEST_F(SuiteTest, ProgramsRunInTheWorkFolderWithTheSuitesEnvironment) {
  const Suite suite = read_suite(write(R"({"environment": {"HOME": "{work}", "PATH": "/usr/bin:/bin"},
    "setup": ["sh", "-c", "echo made > input"],
    "programs": [{"name": "cat", "command": ["cat"], "stdin": "input"},
                 {"name": "true", "command": ["true"], "small": true},
                 {"name": "absent", "command": ["no-such-program"]}]})"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {{kSystemName, ""}}, .warmups = 0};
  TemporaryDirectory work;
  EXPECT_EQ(prepare_suite(suite, {}, 2, work.path(), session, plan), std::vector<std::string>{"absent"});
  EXPECT_EQ(plan.environment.get("HOME"), work.path().string());
  ASSERT_EQ(plan.workloads.size(), 2u);
  EXPECT_EQ(plan.workloads[1].rounds, 40);
  const ComparisonResults results = ComparisonRun(plan, session).to_end();
  EXPECT_FALSE(results.comparisons[0].contenders[0].failure);
  EXPECT_EQ(results.comparisons[0].contenders[0].runs.size(), 2u);
  EXPECT_EQ(read_file(work.path() / "input"), "made\n");
}

TEST_F(SuiteTest, AnUnknownProgramIsRefusedAndSaysWhichThereAre) {
  const Suite suite = read_suite(write(R"({"programs": [{"name": "true", "command": ["true"]}]})"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {}};
  try {
    prepare_suite(suite, {"false"}, 1, directory_.path(), session, plan);
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("no 'false', but true"), std::string::npos) << error.what();
  }
}

TEST_F(SuiteTest, TheSuiteOfProgramsIsOne) {
  const Suite suite = read_suite("programs");
  EXPECT_GT(suite.programs.size(), 20u);
}

}  // namespace
}  // namespace tarn::tool
