#include "observe/profile/loaded_modules.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <string>

namespace tarn::internal {
namespace {

TEST(LoadedModules, HaveTheFilesOfTheProcess) {
  LoadedModule storage[64];
  LoadedModules modules(storage, 64);
  modules.note_all();
  const LoadedModule* const libc = modules.find(reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(std::string(libc->path).find("libc"), std::string::npos);
  static char of_program;
  const LoadedModule* const program = modules.find(reinterpret_cast<std::uintptr_t>(&of_program));
  ASSERT_NE(program, nullptr);
  EXPECT_NE(program, libc);
  EXPECT_EQ(modules.find(16), nullptr);
}

TEST(LoadedModules, BeyondTheRoomAreLeftOut) {
  LoadedModule storage[1];
  LoadedModules modules(storage, 1);
  modules.note_all();
  EXPECT_EQ(modules.find(reinterpret_cast<std::uintptr_t>(&gnu_get_libc_version)), nullptr);
  LoadedModules none(nullptr, 0);
  none.note_all();
  FixedText<64> text;
  EXPECT_FALSE(none.add_place(text, 16));
  EXPECT_EQ(text.length(), 0u);
}

}  // namespace
}  // namespace tarn::internal
