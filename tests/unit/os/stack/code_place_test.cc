#include "os/stack/code_place.h"

#include <stdlib.h>

#include "base/text.h"
#include "os/stack/loaded_file.h"
#include "support/prelude.h"

namespace tarn::internal::os {
namespace {

void of_program() {}

std::string place_of(std::uintptr_t address) {
  FixedText<256> text;
  return add_code_place(text, address) ? std::string(text.data(), text.length()) : "";
}

TEST(CodePlace, IsAFileAndAnOffset) {
  if (!tells_loaded_files()) GTEST_SKIP() << "the loader of this libc tells of no files";
  const std::string in_libc = place_of(reinterpret_cast<std::uintptr_t>(&a64l));
  EXPECT_NE(in_libc.find("/libc.so.6+0x"), std::string::npos) << in_libc;
  const std::string own = place_of(reinterpret_cast<std::uintptr_t>(&of_program));
  EXPECT_NE(own.find("unit+0x"), std::string::npos) << own;
}

TEST(CodePlace, IsNoneWithoutAFile) { EXPECT_EQ(place_of(16), ""); }

TEST(CodePlace, APartOfTheProgramIsNoLibraryOfItsOwn) {
  EXPECT_FALSE(is_of_own_library(reinterpret_cast<std::uintptr_t>(&of_program)));
  EXPECT_FALSE(is_of_own_library(16));
}

}  // namespace
}  // namespace tarn::internal::os
