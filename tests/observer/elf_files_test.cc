// What headers and notes of ELF files tell: build ids, and which machine a program is for.
#include "observer/core_builder.h"
#include "observer/files/build_id.h"
#include "observer/files/elf_headers.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

std::optional<std::string> id_of(const std::string& head) {
  return build_id_in([&](std::uint64_t at, void* into, std::size_t bytes) {
    if (at > head.size() || bytes > head.size() - at) return false;
    std::memcpy(into, head.data() + at, bytes);
    return true;
  });
}

TEST(BuildId, IsFoundAmongTheNotes) {
  EXPECT_EQ(id_of(test::library_head("twenty bytes of sha1")), "twenty bytes of sha1");
}

TEST(BuildId, AFileThatIsNoElfHasNone) {
  EXPECT_FALSE(id_of(std::string(4096, 'x')));
  EXPECT_FALSE(id_of(""));
}

TEST(BuildId, IsNotLookedForBehindTheHead) {
  std::string head = test::library_head("id");
  Elf64_Phdr part;
  std::memcpy(&part, head.data() + sizeof(Elf64_Ehdr), sizeof part);
  for (const std::uint64_t offset : {std::uint64_t{4090}, UINT64_MAX - 8}) {
    part.p_offset = offset;
    std::memcpy(head.data() + sizeof(Elf64_Ehdr), &part, sizeof part);
    EXPECT_FALSE(id_of(head)) << offset;
  }
}

TEST(ElfMachine, OwnProgramsCanBeRead) { EXPECT_EQ(machine_obstacle(test::elf_header(ET_EXEC, 0)), ""); }

TEST(ElfMachine, WhatCannotBeReadIsNamed) {
  Elf64_Ehdr header = test::elf_header(ET_EXEC, 0);
  header.e_machine = EM_S390;
  EXPECT_NE(machine_obstacle(header).find("is of s390x, this tarn of "), std::string::npos);
  header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_NE(machine_obstacle(header).find("byte order"), std::string::npos);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(machine_obstacle(header).find("is a 32-bit program"), std::string::npos);
}

}  // namespace

}  // namespace tarn::observer
