#include "system/files/program.h"

#include <elf.h>

#include "scratch_directory.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

/// An ELF file with one program header of the given type, and nothing else.
std::string elf_with_segment(std::uint32_t type) {
  Elf64_Ehdr header = {};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = type;
  return std::string(reinterpret_cast<char*>(&header), sizeof(header)) +
         std::string(reinterpret_cast<char*>(&segment), sizeof(segment));
}

TEST(Program, IsFoundAlongThePathAndByItsOwn) {
  EXPECT_EQ(find_program("sh").state, ProgramState::kFound);
  EXPECT_EQ(find_program("/bin/sh").path, "/bin/sh");
  EXPECT_EQ(find_program("there-is-no-such-program").state, ProgramState::kNotFound);
}

TEST(Program, ThatIsNoExecutableFileIsToldApartFromOneThatIsMissing) {
  const ScratchDirectory scratch;
  EXPECT_EQ(find_program(scratch.add_file("data")).state, ProgramState::kNotExecutable);
  EXPECT_EQ(find_program(scratch.path()).state, ProgramState::kNotExecutable);
}

TEST(Program, WithALoaderCanBePreloadedInto) {
  const ScratchDirectory scratch;
  EXPECT_EQ(why_not_preloadable(scratch.add_program("dynamic", elf_with_segment(PT_INTERP))), "");
  EXPECT_EQ(why_not_preloadable("/bin/sh"), "");
}

TEST(Program, WithoutALoaderCannot) {
  const ScratchDirectory scratch;
  const std::string path = scratch.add_program("static", elf_with_segment(PT_LOAD));
  EXPECT_EQ(why_not_preloadable(path), path + " is statically linked: nothing can be preloaded into it");
}

TEST(Program, ThatIsAScriptIsJudgedByItsInterpreter) {
  const ScratchDirectory scratch;
  const std::string interpreter = scratch.add_program("static", elf_with_segment(PT_LOAD));
  const std::string script = scratch.add_program("script", "#!" + interpreter + " -x\n");
  EXPECT_EQ(why_not_preloadable(script), why_not_preloadable(interpreter));
  EXPECT_EQ(why_not_preloadable(scratch.add_program("other", "#!/bin/sh\n")), "");
}

TEST(Program, ThatIsItsOwnInterpreterDoesNotHangTheTool) {
  const ScratchDirectory scratch;
  EXPECT_EQ(why_not_preloadable(scratch.add_program("loop", "#!" + scratch.path("loop") + "\n")), "");
}

}  // namespace
}  // namespace tarn::tool
