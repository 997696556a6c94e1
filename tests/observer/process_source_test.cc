#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <filesystem>

#include "observer/companion.h"
#include "observer/core_builder.h"
#include "observer/process/refusal.h"
#include "observer/process/source.h"
#include "observer/who_may_look.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

// -- The process source on real processes, and who may look at them.

using test::become_nobody;
using test::Companion;
using test::contains;
using test::error_of;
using test::seen_by;
using test::WhoMayLook;

constexpr std::size_t kPage = 4096;

// Four pages of which the third cannot be reached: the first is full of 'a', and so on.
char* map_pages_with_a_gap() {
  void* const start = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const pages = static_cast<char*>(start);
  for (std::size_t i = 0; i < 4; ++i) std::memset(pages + i * kPage, static_cast<int>('a' + i), kPage);
  munmap(pages + 2 * kPage, kPage);
  return pages;
}

void expect_the_pages(const Source& source, Address pages) {
  std::string bytes(4 * kPage, '?');
  EXPECT_EQ(source.read(pages + 10, bytes.data(), 10), 10u);
  EXPECT_EQ(bytes.substr(0, 11), "aaaaaaaaaa?");
  EXPECT_EQ(source.read(pages + kPage - 1, bytes.data(), 4 * kPage), kPage + 1) << "up to the gap";
  EXPECT_EQ(bytes.substr(0, 2), "ab");
  EXPECT_EQ(source.read(pages + 2 * kPage, bytes.data(), kPage), 0u);
  EXPECT_EQ(source.read(pages + 3 * kPage, bytes.data(), 1), 1u);
  EXPECT_EQ(bytes[0], 'd');
  EXPECT_EQ(source.read(8, bytes.data(), 8), 0u);
  EXPECT_EQ(source.read(~Address{0} - 3, bytes.data(), 8), 0u);
}

TEST(ProcessSource, ReadsUpToWhereMemoryEnds) {
  const Companion child([] { return reinterpret_cast<std::uintptr_t>(map_pages_with_a_gap()); });
  const auto source = open_process(child.pid());
  EXPECT_EQ(source->kind(), SourceKind::kProcess);
  EXPECT_EQ(source->pid(), child.pid());
  EXPECT_EQ(source->program(), "observer_tests");
  expect_the_pages(*source, child.answer());
}

TEST(ProcessSource, RefreshShowsWhatWasMappedSince) {
  const auto source = open_process(getpid());
  char* const pages = map_pages_with_a_gap();
  const auto has_pages = [&] {
    for (const Mapping& mapping : source->mappings())
      if (mapping.contains(reinterpret_cast<Address>(pages)))
        return mapping.is_readable && mapping.is_writable;
    return false;
  };
  mprotect(pages, kPage, PROT_NONE);
  source->refresh();
  EXPECT_FALSE(has_pages());
  mprotect(pages, kPage, PROT_READ | PROT_WRITE);
  source->refresh();
  EXPECT_TRUE(has_pages());
  munmap(pages, 4 * kPage);
}

TEST(OwnProcess, ReadsItselfAndNeverFaults) {
  char* const pages = map_pages_with_a_gap();
  const auto source = open_own_process();
  EXPECT_EQ(source->kind(), SourceKind::kOwn);
  EXPECT_EQ(source->pid(), getpid());
  EXPECT_EQ(source->program(), "observer_tests");
  expect_the_pages(*source, reinterpret_cast<Address>(pages));
  munmap(pages, 4 * kPage);
}

TEST(ProcessSource, ANumberOfNoProcessIsSaidToBeOne) {
  Companion child;
  const pid_t gone = child.pid();
  child.end();
  child.reap();
  const std::string line = "there is no process " + std::to_string(gone);
  EXPECT_TRUE(contains(error_of([&] { open_process(gone); }), line));
  EXPECT_TRUE(contains(error_of([] { open_process(0); }), "there is no process 0"));
  EXPECT_TRUE(contains(error_of([] { open_process(-5); }), "there is no process -5"));
}

TEST(ProcessSource, AZombieHasEnded) {
  Companion child;
  child.end();
  EXPECT_TRUE(contains(error_of([&] { open_process(child.pid()); }), "(observer_tests) has ended"));
}

TEST(ProcessSource, AThreadOfTheKernelIsNoProgram) {
  struct stat status {};
  if (stat("/proc/2/exe", &status) == 0) GTEST_SKIP() << "process 2 is a program here";
  const std::string error = error_of([] { open_process(2); });
  EXPECT_TRUE(contains(error, "is a thread of the kernel") || contains(error, "there is no process 2"))
      << error;
}

TEST(ProcessSource, AProcessThatEndsMeanwhileReadsShortAndCannotBeRefreshed) {
  Companion child([] { return reinterpret_cast<std::uintptr_t>(map_pages_with_a_gap()); });
  const auto source = open_process(child.pid());
  child.end();
  char byte;
  EXPECT_EQ(source->read(child.answer(), &byte, 1), 0u);
  EXPECT_TRUE(contains(error_of([&] { source->refresh(); }), "has ended or runs another program now"));
}

TEST(ProcessSource, AProcessThatRunsAnotherProgramIsAnotherOne) {
  Companion child;
  const auto source = open_process(child.pid());
  ASSERT_TRUE(child.run("/bin/cat"));
  EXPECT_TRUE(contains(error_of([&] { source->refresh(); }), "has ended or runs another program now"));
  EXPECT_EQ(open_process(child.pid())->program(), "cat");
}

// A program that writes a byte and rests: its headers and its code, loaded as one.
std::string program_of_32_bits() {
  constexpr unsigned kStart = 0x8048000, kEntry = kStart + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
  static const unsigned char kCode[] = {0xb8, 4,   0,    0,    0,                 // mov $4, %eax: write
                                        0xbb, 1,   0,    0,    0,                 // mov $1, %ebx
                                        0xb9, 0,   0x80, 0x04, 0x08,              // mov $kStart, %ecx
                                        0xba, 1,   0,    0,    0,    0xcd, 0x80,  // mov $1, %edx; int $0x80
                                        0xb8, 29,  0,    0,    0,    0xcd, 0x80,
                                        0xeb, 0xf7};  // pause for ever
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, test::elf_header(ET_EXEC, 1).e_ident, EI_NIDENT);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_type = ET_EXEC, header.e_machine = EM_386, header.e_version = EV_CURRENT;
  header.e_entry = kEntry, header.e_phoff = sizeof header, header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf32_Phdr), header.e_phnum = 1;
  Elf32_Phdr part{};
  part.p_type = PT_LOAD, part.p_flags = PF_R | PF_X, part.p_align = 4096;
  part.p_vaddr = kStart, part.p_filesz = part.p_memsz = kEntry - kStart + sizeof kCode;
  return test::bytes_of(header) + test::bytes_of(part) + test::bytes_of(kCode);
}

TEST(ProcessSource, AProgramOf32BitsIsNone) {
  const std::string path = testing::TempDir() + "program_of_32_bits";
  std::ofstream(path, std::ios::binary) << program_of_32_bits();
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Companion child;
  const bool has_run = child.run(path);
  std::filesystem::remove(path);
  if (!has_run) GTEST_SKIP() << "the system runs no 32-bit x86 programs";
  const std::string error = error_of([&] { open_process(child.pid()); });
  EXPECT_TRUE(contains(error, "(program_of_32_bits) is a 32-bit program")) << error;
}

TEST(ProcessSource, ANameCannotSteerATerminal) {
  const Companion child([] { return static_cast<std::uint64_t>(prctl(PR_SET_NAME, "a\x1b[2Jb")); });
  EXPECT_EQ(open_process(child.pid())->program(), "a?[2Jb");
}

void drop_ptrace_right() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) _exit(1);
  sets[0].effective &= ~(1u << CAP_SYS_PTRACE);
  if (syscall(SYS_capset, &header, sets) != 0) _exit(1);
}

TEST_F(WhoMayLook, NobodyMayNotLookAtRootsProcess) {
  const Companion child;
  EXPECT_TRUE(contains(seen_by(become_nobody, child.pid()),
                       "it belongs to user 0, and you are user 65534: run tarn as root"));
}

TEST_F(WhoMayLook, ThoseOfOneUserMayLookUnlessTheProcessHides) {
  const auto become_visible_nobody = [](bool is_visible) {
    become_nobody();
    return static_cast<std::uint64_t>(prctl(PR_SET_DUMPABLE, is_visible ? 1 : 0));
  };
  const Companion visible([&] { return become_visible_nobody(true); });
  const Companion hidden([&] { return become_visible_nobody(false); });
  const std::string seen = seen_by(become_nobody, visible.pid());
  EXPECT_TRUE(seen == "it can look" || contains(seen, "ptrace_scope is")) << seen;
  const std::string not_seen = seen_by(become_nobody, hidden.pid());
  EXPECT_TRUE(contains(not_seen, "PR_SET_DUMPABLE")) << not_seen;
  EXPECT_EQ(seen_by([] {}, hidden.pid()), "it can look") << "root";
}

TEST_F(WhoMayLook, RootWithoutTheCapabilityIsToldWhichOne) {
  const Companion child([] {
    become_nobody();
    return std::uint64_t{0};
  });
  EXPECT_TRUE(contains(seen_by(drop_ptrace_right, child.pid()), "--cap-add=SYS_PTRACE"));
}

RefusalFacts facts() { return {7, "server", 1000, 1000, false, true, 0}; }

bool says(const RefusalFacts& facts, const std::string& part) {
  const std::string line = explain_refusal(facts);
  return line.starts_with("cannot look into process 7 (server): ") && line.find(part) != std::string::npos &&
         line.find('\n') == std::string::npos;
}

TEST(Refusal, AnotherUsersProcessNeedsRoot) {
  RefusalFacts other = facts();
  other.its_user = 33;
  EXPECT_TRUE(says(other, "it belongs to user 33, and you are user 1000: run tarn as root"));
}

TEST(Refusal, RootInAContainerNeedsTheCapability) {
  RefusalFacts root = facts();
  root.own_user = 0;
  EXPECT_TRUE(says(root, "--cap-add=SYS_PTRACE"));
}

TEST(Refusal, WhereTheCapabilityDoesNotHelpTheHostDoes) {
  RefusalFacts root = facts();
  root.own_user = 0;
  root.has_ptrace_right = true;
  EXPECT_TRUE(says(root, "run tarn as root on the host"));
}

TEST(Refusal, AProcessThatIsNotDumpableNeedsRoot) {
  RefusalFacts hidden = facts();
  hidden.is_dumpable = false;
  EXPECT_TRUE(says(hidden, "PR_SET_DUMPABLE"));
}

TEST(Refusal, EachPtraceScopeHasItsWayOut) {
  RefusalFacts yama = facts();
  yama.ptrace_scope = 1;
  EXPECT_TRUE(
      says(yama, "ptrace_scope is 1: run tarn as root, or start the program with TARN_OBSERVE=owner"));
  yama.ptrace_scope = 2;
  EXPECT_TRUE(says(yama, "ptrace_scope is 2: run tarn as root"));
  yama.ptrace_scope = 3;
  yama.has_ptrace_right = true;
  EXPECT_TRUE(says(yama, "reboot"));
}

TEST(Refusal, WithoutACauseItSaysWhatIsLeft) {
  EXPECT_TRUE(says(facts(), "it has capabilities that you have not"));
}

}  // namespace
}  // namespace tarn::observer
