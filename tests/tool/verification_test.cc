#include "engine/contenders/verification.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tarn::tool {
namespace {

const Allocator kLibrary = {"mine", "/x/libmine.so"};

RunResult ended(Ending ending, int code, const std::string& errors = "") {
  RunResult run;
  run.ending = ending;
  run.code = code;
  run.errors.append(errors);
  return run;
}

std::string what(const RunResult& run, int expected_status = 0) {
  const auto failure = failure_of(run, kLibrary, expected_status, 2);
  return failure ? failure->what : "";
}

TEST(Verification, TheExpectedExitStatusIsNoFailure) {
  EXPECT_EQ(what(ended(Ending::kExited, 0)), "");
  EXPECT_EQ(what(ended(Ending::kExited, 1), 1), "");
  EXPECT_EQ(what(ended(Ending::kExited, 0), 1), "exit status 0");
}

TEST(Verification, EveryOtherEndIsNamed) {
  EXPECT_EQ(what(ended(Ending::kExited, 3)), "exit status 3");
  EXPECT_EQ(what(ended(Ending::kSignaled, SIGABRT)), "ended by SIGABRT (Aborted)");
  EXPECT_EQ(what(ended(Ending::kTimedOut, 0)), "timeout: killed after 2.000 s");
  EXPECT_EQ(what(ended(Ending::kNotStarted, ENOEXEC)), "could not be started: Exec format error");
}

constexpr const char* kComplaint =
    "ERROR: ld.so: object '/x/libmine.so' from LD_PRELOAD cannot be preloaded (file too short): ignored.\n";

TEST(Verification, ALibraryThatTheLoaderLeftOutFailsThoughTheProgramWentOn) {
  EXPECT_EQ(what(ended(Ending::kExited, 0, kComplaint)), "could not be preloaded: file too short");
}

TEST(Verification, AComplaintAboutAnotherLibraryIsNotOurs) {
  EXPECT_EQ(loader_complaint(kComplaint, "/x/libother.so"), "");
  EXPECT_EQ(loader_complaint(kComplaint, ""), "");
}

TEST(Verification, AFailureCarriesTheLastLinesOfStandardError) {
  const auto failure = failure_of(ended(Ending::kExited, 1, "1\n2\n3\n4\n5\n6\n"), kLibrary, 0, 2);
  EXPECT_EQ(failure->error_lines, (std::vector<std::string>{"2", "3", "4", "5", "6"}));
}

}  // namespace
}  // namespace tarn::tool
