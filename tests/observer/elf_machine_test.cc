#include "observer/elf_machine.h"

#include <gtest/gtest.h>

#include "observer/core_builder.h"

namespace tarn::observer {
namespace {

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
