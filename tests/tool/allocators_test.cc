#include "engine/contenders/allocators.h"

#include "engine/contenders/verification.h"
#include "scratch_directory.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

// Every test has its own library directory, and a file that stands for libtarn.so.
class AllocatorLookup : public testing::Test {
 protected:
  AllocatorLookup() { setenv("TARN_LIBRARY", scratch_.add_file("libtarn.so").c_str(), 1); }
  ~AllocatorLookup() override { unsetenv("TARN_LIBRARY"); }

  std::vector<std::string> names(const Selection& selection) const {
    std::vector<std::string> list;
    for (const Allocator& allocator : select_allocators(selection, {scratch_.path()}))
      list.push_back(allocator.name);
    return list;
  }
  std::string complaint(const Selection& selection) const {
    return test::error_of<UsageError>([&] { select_allocators(selection, {scratch_.path()}); });
  }
  std::string library_of(const char* name) const {
    return find_library(*find_known(name), {scratch_.path()});
  }

  ScratchDirectory scratch_;
};

using Names = std::vector<std::string>;

TEST_F(AllocatorLookup, TheHighestVersionIsFoundByNumberNotByText) {
  scratch_.add_file("libmimalloc.so.9");
  scratch_.add_file("libmimalloc.so.10");
  scratch_.add_file("libmimalloc.so.2.0");
  EXPECT_EQ(library_of("mimalloc"), scratch_.path("libmimalloc.so.10"));
}

TEST_F(AllocatorLookup, OtherFilesOfTheSameBeginningAreNotLibraries) {
  scratch_.add_file("libjemalloc.so.2.py");
  scratch_.add_file("libjemalloc.so.x");
  scratch_.add_file("libjemalloc.source");
  EXPECT_EQ(library_of("jemalloc"), "");
}

TEST_F(AllocatorLookup, ALinkToNowhereIsNotFound) {
  std::filesystem::create_symlink("missing", scratch_.path("libjemalloc.so.3"));
  scratch_.add_file("libjemalloc.so.2");
  EXPECT_EQ(library_of("jemalloc"), scratch_.path("libjemalloc.so.2"));
}

TEST_F(AllocatorLookup, MinimalTcmallocIsPreferredAndTheFullOneServes) {
  scratch_.add_file("libtcmalloc.so.4");
  EXPECT_EQ(library_of("tcmalloc"), scratch_.path("libtcmalloc.so.4"));
  scratch_.add_file("libtcmalloc_minimal.so.4");
  EXPECT_EQ(library_of("tcmalloc"), scratch_.path("libtcmalloc_minimal.so.4"));
}

TEST_F(AllocatorLookup, ByDefaultAllThatAreInstalledAreChosenBehindTheSystemsAndTarn) {
  scratch_.add_file("libjemalloc.so.2");
  scratch_.add_file("libtbbmalloc_proxy.so.2");
  EXPECT_EQ(names({}), (Names{"glibc", "tarn", "jemalloc", "tbb"}));
}

TEST_F(AllocatorLookup, WithNamesTheOnlyOthers) {
  scratch_.add_file("libjemalloc.so.2");
  scratch_.add_file("libmimalloc.so.2");
  EXPECT_EQ(names({.with = {"mimalloc"}, .without = {}}), (Names{"glibc", "tarn", "mimalloc"}));
  EXPECT_EQ(names({.with = {"none"}, .without = {}}), (Names{"glibc", "tarn"}));
}

TEST_F(AllocatorLookup, APathIsNamedByItsStemOrAsTheUserSays) {
  const std::string path = scratch_.add_file("libmine.so.1.2");
  EXPECT_EQ(names({.with = {path}, .without = {"tarn"}}), (Names{"glibc", "libmine"}));
  EXPECT_EQ(names({.with = {"new=" + path}, .without = {"tarn"}}), (Names{"glibc", "new"}));
}

TEST_F(AllocatorLookup, AllAndAPathGoTogether) {
  scratch_.add_file("libjemalloc.so.2");
  const std::string path = scratch_.add_file("libmine.so");
  EXPECT_EQ(names({.with = {"all", path}, .without = {}}), (Names{"glibc", "tarn", "jemalloc", "libmine"}));
}

TEST_F(AllocatorLookup, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(complaint({.with = {"supermalloc"}, .without = {}}),
            "unknown allocator 'supermalloc': use mimalloc, jemalloc, tcmalloc, tbb, or the path of a .so");
}

TEST_F(AllocatorLookup, AKnownNameThatIsNotInstalledNamesItsPackage) {
  EXPECT_EQ(complaint({.with = {"jemalloc"}, .without = {}}),
            "jemalloc is not installed: apt-get install libjemalloc2");
}

TEST_F(AllocatorLookup, TwoOfOneNameAreRefused) {
  const std::string path = scratch_.add_file("libmine.so");
  EXPECT_EQ(complaint({.with = {path, path}, .without = {}}),
            "two allocators are called 'libmine': write NAME=PATH to tell them apart");
}

TEST_F(AllocatorLookup, TheSystemsAllocatorCannotBeLeftOut) {
  EXPECT_NE(complaint({.with = {}, .without = {"glibc"}}).find("cannot be left out"), std::string::npos);
}

TEST_F(AllocatorLookup, APathThatTheLoaderWouldSplitIsRefused) {
  const std::string path = scratch_.add_file("lib mine.so");
  EXPECT_NE(complaint({.with = {path}, .without = {}}).find("blank or a colon"), std::string::npos);
}

TEST_F(AllocatorLookup, WithoutItsLibraryTarnIsOneClearLine) {
  setenv("TARN_LIBRARY", scratch_.path("gone.so").c_str(), 1);
  EXPECT_EQ(complaint({}), "TARN_LIBRARY names no file: '" + scratch_.path("gone.so") + "'");
}

TEST_F(AllocatorLookup, MissingPackagesAreThoseOfLibrariesNotThere) {
  scratch_.add_file("libjemalloc.so.2");
  EXPECT_EQ(missing_packages({scratch_.path()}),
            (Names{"libmimalloc2.0", "libtcmalloc-minimal4", "libtbbmalloc2"}));
}

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
