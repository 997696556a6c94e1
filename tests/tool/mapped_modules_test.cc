#include "taken/mapped_modules.h"

#include "observer/files/build_id.h"
#include "observer/files/input_file.h"
#include "support/prelude.h"
#include "system/figures/clock.h"

namespace tarn::tool {
namespace {

using observer::Address;

/// A process that has mapped files, all of which begin as this test's program does. Some never answer.
class Program final : public observer::Source {
 public:
  Program() { observer::InputFile("/proc/self/exe").read(0, head_, sizeof head_); }

  void map(Address start, const std::string& path, bool is_executable) {
    mappings_.push_back({.start = start, .end = start + 0x1000, .is_readable = true, .path = path});
    mappings_.back().is_executable = is_executable;
  }
  void map_file(Address start, const std::string& path) {
    map(start, path, false);
    map(start + 0x1000, path, true);
  }
  std::string build_id() const {
    return observer::build_id_in([this](std::uint64_t offset, void* into, std::size_t bytes) {
             return copy(offset, into, bytes) == bytes;
           })
        .value_or("");
  }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    const auto behind = std::ranges::upper_bound(mappings_, address, {}, &observer::Mapping::start);
    while (std::prev(behind)->path.starts_with("/silent")) pause();
    return copy(address - std::prev(behind)->start, into, bytes);
  }
  std::span<const observer::Mapping> mappings() const override { return mappings_; }
  observer::SourceKind kind() const override { return observer::SourceKind::kProcess; }
  int pid() const override { return 0; }
  std::string program() const override { return "fake"; }

 private:
  std::size_t copy(std::uint64_t offset, void* into, std::size_t bytes) const {
    const std::size_t there = std::min<std::size_t>(bytes, sizeof head_ - std::min(offset, sizeof head_));
    std::memcpy(into, head_ + offset, there);
    return there;
  }

  char head_[observer::kElfHeadBytes] = {};
  std::vector<observer::Mapping> mappings_;
};

TEST(MappedModules, OnlyFilesThatDoNotAnswerHaveNoBuildId) {
  Program program;
  program.map_file(0x10000, "/bin/program");
  program.map_file(0x20000, "/silent/a");
  program.map_file(0x30000, "/lib/b");
  program.map_file(0x40000, "/silent/a");
  program.map_file(0x50000, "/lib/c");
  ASSERT_FALSE(program.build_id().empty());
  const std::vector<profile::ProfileModule> modules = mapped_modules(program);
  ASSERT_EQ(modules.size(), 5U);
  for (const profile::ProfileModule& module : modules) {
    EXPECT_EQ(module.does_not_answer, module.path == "/silent/a");
    EXPECT_EQ(module.build_id, module.does_not_answer ? "" : program.build_id()) << module.path;
    EXPECT_EQ(module.first_end, module.start + 0x1000);
  }
}

TEST(MappedModules, FilesWithoutCodeAreNotRead) {
  Program program;
  program.map(0x10000, "/silent/data", false);
  const std::vector<profile::ProfileModule> modules = mapped_modules(program);
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_FALSE(modules[0].does_not_answer);
}

TEST(MappedModules, AnyNumberOfSilentFilesTakesSeconds) {
  Program program;
  constexpr int kFiles = 30'000;
  for (int i = 0; i < kFiles; ++i)
    program.map_file(Address{0x10000} * static_cast<Address>(i + 1), "/silent/" + std::to_string(i));
  const timespec began = now();
  const std::vector<profile::ProfileModule> modules = mapped_modules(program);
  EXPECT_LT(seconds_since(began), 15);
  EXPECT_TRUE(std::ranges::all_of(modules, &profile::ProfileModule::does_not_answer));
}

}  // namespace
}  // namespace tarn::tool
