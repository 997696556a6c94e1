#include "compare/suite.h"

#include <filesystem>

#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

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
    return test::error_of<UsageError>([&] { read_suite(write(text)); });
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

TEST_F(SuiteTest, AServerHasItsLoadAndWhenItIsReady) {
  const Suite suite = read_suite(write(R"({"programs": [{"name": "cache", "command": ["{suite}/server"],
    "load": "{suite}/load -n 3", "port": 6399, "ready": "Ready"}]})"));
  const std::string folder = directory_.path().string();
  EXPECT_EQ(suite.programs[0].command.front(), folder + "/server");
  ASSERT_TRUE(suite.programs[0].load);
  EXPECT_EQ(suite.programs[0].load->command, shell_command(folder + "/load -n 3"));
  EXPECT_EQ(suite.programs[0].load->readiness.port, 6399);
  EXPECT_EQ(suite.programs[0].load->readiness.text, "Ready");
}

TEST_F(SuiteTest, FiguresAreOfAProgramOrElseOfAll) {
  const Suite suite = read_suite(write(R"json({"figures": ["rss=rss ([0-9]+)"],
    "programs": [{"name": "a", "command": ["a"]},
                 {"name": "b", "command": ["b"], "figures": ["+rate=([0-9]+)", "p99=p99 ([0-9]+)"]}]})json"));
  ASSERT_EQ(suite.programs[0].figures.size(), 1u);
  EXPECT_EQ(suite.programs[0].figures[0].metric.name, "rss");
  ASSERT_EQ(suite.programs[1].figures.size(), 2u);
  EXPECT_TRUE(suite.programs[1].figures[0].metric.is_more_better);
}

TEST_F(SuiteTest, AContenderIsAnAllocatorWithArgumentsBehindEachCommand) {
  const Suite suite = read_suite(write(R"json({"environment": {"PATH": "/usr/bin:/bin"},
    "contenders": [{"name": "seven", "allocator": "glibc", "arguments": ["7"]},
                   {"name": "absent", "allocator": "jemalloc", "arguments": ["8"]}],
    "programs": [{"name": "echo", "command": ["echo", "1"], "figures": ["last=([0-9]+)$"]}]})json"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {{kSystemName, ""}}, .warmups = 0};
  prepare_suite(suite, {}, 1, directory_.path(), session, plan);
  const ComparisonResults results = ComparisonRun(plan, session).to_end();
  const Entries<ProgramRun>& entries = results.comparisons[0].contenders;
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].runs.at(0).printed.at(0), 1);
  EXPECT_EQ(entries[1].allocator.name, "seven");
  EXPECT_EQ(entries[1].runs.at(0).printed.at(0), 7);
}

TEST_F(SuiteTest, AContenderNamedAsAnAllocatorIsRefused) {
  const Suite suite = read_suite(write(R"({"programs": [{"name": "true", "command": ["true"]}],
    "contenders": [{"name": "glibc", "allocator": "glibc", "arguments": []}]})"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {{kSystemName, ""}}};
  EXPECT_THROW(prepare_suite(suite, {}, 1, directory_.path(), session, plan), UsageError);
}

TEST_F(SuiteTest, AFileThatIsNoSuiteIsRefusedInOneLine) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"programs": 3})", R"({"programs": [{"name": "x"}]})",
        R"({"programs": [{"name": "x", "command": []}]})",
        R"({"programs": [{"name": "x", "command": ["x"], "load": "y"}]})",
        R"({"programs": [{"name": "x", "command": ["x"], "load": "y", "port": 70000}]})",
        R"({"programs": [{"name": "x", "command": ["x"], "figures": ["no group"]}]})",
        R"({"programs": [], "contenders": [{"name": "x", "allocator": "z", "arguments": []}]})"})
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

TEST_F(SuiteTest, ProgramsAreThoseOfTheSuitesPath) {
  const std::string own = (directory_.path() / "true").string();
  std::filesystem::create_symlink("/bin/false", own);
  const Suite suite = read_suite(write(R"({"environment": {"PATH": "{work}"},
    "programs": [{"name": "true", "command": ["true"]}, {"name": "ls", "command": ["ls"]}]})"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {{kSystemName, ""}}};
  EXPECT_EQ(prepare_suite(suite, {}, 1, directory_.path(), session, plan), std::vector<std::string>{"ls"});
  EXPECT_EQ(plan.workloads.at(0).command.front(), own);
}

TEST_F(SuiteTest, AnUnknownProgramIsRefusedAndSaysWhichThereAre) {
  const Suite suite = read_suite(write(R"({"programs": [{"name": "true", "command": ["true"]}]})"));
  Session session(Telling::kQuiet);
  ComparisonPlan plan = {.workloads = {}, .allocators = {}};
  const std::string error = test::error_of<UsageError>(
      [&] { prepare_suite(suite, {"false"}, 1, directory_.path(), session, plan); });
  EXPECT_NE(error.find("no 'false', but true"), std::string::npos) << error;
}

TEST_F(SuiteTest, TheSuiteOfProgramsIsOne) {
  const Suite suite = read_suite("programs");
  EXPECT_GT(suite.programs.size(), 20u);
}

TEST_F(SuiteTest, TheSuiteOfReturnedMemoryReadsWhatItsProgramPrints) {
  setenv("TARN_BENCH_PROGRAMS", "/somewhere", 1);
  const Suite suite = read_suite("return_memory");
  unsetenv("TARN_BENCH_PROGRAMS");
  ASSERT_EQ(suite.programs.size(), 4u);
  EXPECT_EQ(suite.programs[0].command.front(), "/somewhere/return_memory");
  const char* const line =
      R"({"sizes":"64","filled_mib":1070.2,"freed_mib":1024.5,"after_1_s_mib":3.5,)"
      R"("after_2_s_mib":3.5,"after_5_s_mib":3.5,"after_10_s_mib":3.5,"trimmed_mib":2.5})";
  for (const PrintedFigure& figure : suite.programs[0].figures)
    EXPECT_TRUE(figure.metric.value_in(line)) << figure.metric.name;
  EXPECT_EQ(suite.programs[0].figures[1].metric.value_in(line)->value, 1024.5);
}

}  // namespace
}  // namespace tarn::tool
