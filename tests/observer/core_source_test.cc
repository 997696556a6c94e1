// The core source: on what gcore writes of a real process, and on files made by hand, whole and damaged.
#include <fcntl.h>

#include <filesystem>

#include "observer/companion.h"
#include "observer/core_builder.h"
#include "observer/damaged_dump.h"
#include "observer/memory_file.h"
#include "observer/process/source.h"
#include "observer/source_promises.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"

namespace tarn::observer {
namespace {

using test::broken_promise_of;
using test::CoreBuilder;
using test::forged;
using test::MemoryFile;
using test::read_text;

constexpr auto error_of = test::error_of<ObserveError, std::function<void()>>;

// A file on disk that a core file can name.
class MappedFile {
 public:
  explicit MappedFile(const std::string& content)
      : path_(testing::TempDir() + "core_source_" + std::to_string(getpid())) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~MappedFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

CoreBuilder small_core() {
  CoreBuilder core;
  core.pid = 4711, core.program = "game";
  core.segments = {{0x10000, "first", 0x1000}, {0x20000, "second", 6}, {0x20006, "third", 5, PF_R | PF_X}};
  core.files = {{0x10000, 0x11000, 3, "/lib/one.so"}};
  return core;
}

TEST(CoreSource, TellsWhoseMemoryItWas) {
  const MemoryFile file(small_core().build());
  const auto source = open_dump(file.path());
  EXPECT_EQ(source->kind(), SourceKind::kCore);
  EXPECT_EQ(source->pid(), 4711);
  EXPECT_EQ(source->program(), "game");
}

TEST(CoreSource, ALongNameComesFromTheCommandLine) {
  CoreBuilder core = small_core();
  core.program = "a_server_with_a_long_name";
  const MemoryFile file(core.build());
  EXPECT_EQ(open_core(file.path())->program(), "a_server_with_a_long_name");
}

TEST(CoreSource, MappingsHaveTheirRightsAndPaths) {
  const MemoryFile file(small_core().build());
  const auto source = open_core(file.path());
  const auto mappings = source->mappings();
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_TRUE(mappings[0].is_writable && !mappings[0].is_executable);
  EXPECT_EQ(mappings[0].path, "/lib/one.so");
  EXPECT_EQ(mappings[0].offset, 0x3000u);
  EXPECT_EQ(mappings[1].path, "");
  EXPECT_TRUE(!mappings[2].is_writable && mappings[2].is_executable);
}

TEST(CoreSource, ReadsAcrossSegmentsThatTouchAndNoFurtherThanTheyHold) {
  const MemoryFile file(small_core().build());
  const auto source = open_core(file.path());
  EXPECT_EQ(read_text(*source, 0x10000, 100), "first");
  EXPECT_EQ(read_text(*source, 0x20003, 100), "ondthird");
  EXPECT_EQ(read_text(*source, 0x10005, 100), "");
  EXPECT_EQ(read_text(*source, 0, 100), "");
  EXPECT_EQ(read_text(*source, ~Address{0}, 100), "");
}

/// A library of two pages, of which the core file holds the first `held` bytes.
CoreBuilder core_with_library(const std::string& path, const std::string& held, std::uint32_t rights) {
  CoreBuilder core;
  core.segments = {{0x10000, held, 0x2000, rights}};
  core.files = {{0x10000, 0x12000, 0, path}};
  return core;
}

TEST(CoreSource, WhatTheCoreLeftOutComesFromTheMappedFile) {
  const std::string head = test::library_head("id of then");
  const MappedFile library(head + std::string(4096, 'c'));
  for (const std::string& held : {std::string(), head.substr(0, 64), head}) {
    const MemoryFile file(core_with_library(library.path(), held, PF_R | PF_X).build());
    const auto source = open_core(file.path());
    EXPECT_EQ(read_text(*source, 0x10ff8, 16), std::string(8, '\0') + std::string(8, 'c')) << held.size();
    EXPECT_EQ(read_text(*source, 0x11ff8, 16), "cccccccc");
  }
}

TEST(CoreSource, AFileWithAnotherBuildIdIsNotRead) {
  const std::string then = test::library_head("id of then"), now = test::library_head("id of now");
  const MappedFile library(now + std::string(4096, 'c'));
  const MemoryFile file(core_with_library(library.path(), then, PF_R).build());
  const auto source = open_core(file.path());
  EXPECT_EQ(read_text(*source, 0x10000, 0x2000), then);
}

TEST(CoreSource, WhatWasWritableOrHasNoFileIsNotReadFromOne) {
  const MappedFile library(std::string(8192, 'c'));
  const MemoryFile writable(core_with_library(library.path(), "", PF_R | PF_W).build());
  EXPECT_EQ(read_text(*open_core(writable.path()), 0x10000, 8), "");
  for (const char* path : {"", "relative", "/no/such/file", "/dev/zero", "/"}) {
    const MemoryFile file(core_with_library(path, "", PF_R).build());
    EXPECT_EQ(read_text(*open_core(file.path()), 0x10000, 8), "") << path;
  }
}

TEST(CoreSource, AFileWithoutASegmentIsAMappingToo) {
  const MappedFile library(std::string(8192, 'c'));
  CoreBuilder core = small_core();
  core.files = {{0x1f000, 0x24000, 0, library.path()}};
  const MemoryFile file(core.build());
  const auto source = open_core(file.path());
  const auto mappings = source->mappings();
  ASSERT_EQ(mappings.size(), 4u);
  EXPECT_EQ(mappings[1].start, 0x1f000u);
  EXPECT_EQ(mappings[1].end, 0x20000u);
  EXPECT_TRUE(mappings[1].is_readable && !mappings[1].is_writable);
  EXPECT_EQ(read_text(*source, 0x1fffe, 4), "ccse");
}

TEST(CoreSource, TheWordsOfItsThreadsAreThoseOfTheirNotes) {
  const MemoryFile file(small_core().build());
  const std::vector<Address> words = core_file_words(file.path());
  ASSERT_EQ(words.size(), sizeof(elf_prstatus) / sizeof(Address));
  EXPECT_EQ(words[offsetof(elf_prstatus, pr_pid) / sizeof(Address)] & UINT32_MAX, 4712u);
  EXPECT_TRUE(core_file_words("/no/such").empty());
}

TEST(CoreSource, WhatIsNoCoreFileIsSaidToBeNone) {
  const MemoryFile text("just some text"), program(test::bytes_of(test::elf_header(ET_EXEC, 0)));
  EXPECT_NE(error_of([&] { open_core(text.path()); }).find("is no core file"), std::string::npos);
  EXPECT_NE(error_of([&] { open_dump(text.path()); }).find("is neither a core file nor a minidump"),
            std::string::npos);
  EXPECT_NE(error_of([&] { open_dump(program.path()); }).find("but no core file"), std::string::npos);
  EXPECT_EQ(error_of([] { open_dump("/no/such"); }), "cannot read '/no/such': No such file or directory");
  EXPECT_EQ(error_of([] { open_dump("/dev/null"); }), "cannot read '/dev/null': it is no plain file");
}

TEST(CoreSource, ACoreOfAnotherMachineIsRefused) {
  CoreBuilder core = small_core();
  core.header.e_machine = test::kOtherMachine;
  const MemoryFile other(core.build());
  EXPECT_NE(error_of([&] { open_dump(other.path()); }).find("run a tarn built for that machine"),
            std::string::npos);
  core.header.e_ident[EI_CLASS] = ELFCLASS32;
  const MemoryFile small(core.build());
  EXPECT_NE(error_of([&] { open_dump(small.path()); }).find("is a 32-bit program"), std::string::npos);
}

TEST(CoreSource, MoreSegmentsThanTheHeaderCanCountStandInASection) {
  CoreBuilder core = small_core();
  std::string content = core.build();
  Elf64_Shdr section{};
  section.sh_info = 4;
  Elf64_Ehdr header;
  std::memcpy(&header, content.data(), sizeof header);
  header.e_phnum = PN_XNUM;
  header.e_shoff = content.size();
  content.replace(0, sizeof header, test::bytes_of(header));
  const MemoryFile file(content + test::bytes_of(section));
  EXPECT_EQ(open_core(file.path())->mappings().size(), 3u);
}

TEST(CoreSource, ACoreThatIsCutOffAnywhereIsReadAsFarAsItGoes) {
  const std::string content = small_core().build();
  MemoryFile file("");
  for (std::size_t length = 0; length < content.size(); ++length)
    ASSERT_EQ(broken_promise_of(file, content.substr(0, length)), "") << length;
  file.write(content.substr(0, content.size() - 3));
  EXPECT_EQ(read_text(*open_core(file.path()), 0x20000, 100), "secondth");
}

TEST(CoreSource, AForgedCoreBreaksNoPromise) {
  const std::string content = small_core().build();
  MemoryFile file("");
  for (std::uint64_t seed = 1, end = test::amount(20000, 1000000); seed <= end; ++seed) {
    ASSERT_EQ(broken_promise_of(file, forged(content, seed)), "") << "seed " << seed;
  }
}

TEST(CoreSource, ExtremeSizesAndOffsetsBreakNoPromise) {
  const std::string content = small_core().build();
  MemoryFile file("");
  for (const std::uint64_t extreme :
       {UINT64_MAX, UINT64_MAX - 4095, std::uint64_t{1} << 63, std::uint64_t{1} << 40})
    for (std::size_t at = 0; at + 8 <= content.size(); at += 2) {
      std::string damaged = content;
      std::memcpy(damaged.data() + at, &extreme, 8);
      ASSERT_EQ(broken_promise_of(file, damaged), "") << extreme << " at " << at;
    }
}

// What a real process has and what gcore writes of it are one.
TEST(CoreSource, ReadsOfARealCoreWhatTheProcessHas) {
  if (test::kSanitizer) GTEST_SKIP() << "gcore writes the tables of sanitizers";
  if (!std::filesystem::exists("/usr/bin/gcore")) GTEST_SKIP() << "gcore is not installed (Debian: gdb)";
  const test::Companion child([] {
    void* const start = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(start, 'x', 5000);
    return reinterpret_cast<std::uintptr_t>(start);
  });
  const auto process = open_process(child.pid());
  const std::string path = testing::TempDir() + "real_core";
  const test::ChildResult made =
      test::run_program({"/usr/bin/gcore", "-o", path, std::to_string(child.pid())});
  ASSERT_TRUE(made.is_success()) << made.describe();
  const std::string core_path = path + "." + std::to_string(child.pid());
  const auto core = open_dump(core_path);
  std::filesystem::remove(core_path);

  EXPECT_EQ(core->pid(), child.pid());
  EXPECT_EQ(core->program(), "observer_tests");
  EXPECT_EQ(read_text(*core, child.answer(), 5001), std::string(5000, 'x') + '\0');
  std::size_t compared = 0;
  for (const Mapping& mapping : process->mappings()) {
    if (!mapping.is_readable || mapping.path.starts_with("[v")) continue;
    const std::string there = read_text(*process, mapping.start, 64 << 10);
    const std::string held = read_text(*core, mapping.start, there.size());
    EXPECT_EQ(held.size(), there.size()) << mapping.path << ' ' << std::hex << mapping.start;
    // The kernel writes into a resting process too: the number of its processor.
    EXPECT_TRUE(mapping.is_writable || held == there) << mapping.path << ' ' << std::hex << mapping.start;
    compared += held.size();
  }
  EXPECT_GT(compared, 256u << 10);
}

}  // namespace
}  // namespace tarn::observer
