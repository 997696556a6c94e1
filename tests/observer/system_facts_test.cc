// The facts of a process, read from directories made for the test.
#include "observer/findings/system_facts.h"

#include "support/prelude.h"
#include "system/files/files.h"

namespace tarn::observer {
namespace {

class SystemFactsOf : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& content) {
    const std::filesystem::path file = root_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  SystemFacts facts() const { return read_system_facts(root_.path() / "proc/7", root_.path()); }

 private:
  tool::TemporaryDirectory root_;
};

TEST_F(SystemFactsOf, WhatIsNotThereIsAbsent) {
  const SystemFacts none = facts();
  EXPECT_FALSE(none.rss_bytes || none.swap_bytes || none.group_limit_bytes || none.core_pattern ||
               none.ptrace_scope || none.mapping_count || none.is_thp_enabled);
  EXPECT_EQ(none.thp_enabled, "");
}

TEST_F(SystemFactsOf, SizesOfTheProcessAreInBytes) {
  write("proc/7/status",
        "Name:\tx\nVmSize:\t  2048 kB\nVmRSS:\t  512 kB\nVmSwap:\t  8 kB\nTHP_enabled:\t0\n");
  EXPECT_EQ(facts().address_space_bytes, 2048U * 1024);
  EXPECT_EQ(facts().rss_bytes, 512U * 1024);
  EXPECT_EQ(facts().swap_bytes, 8U * 1024);
  EXPECT_EQ(facts().is_thp_enabled, false);
}

TEST_F(SystemFactsOf, LimitsAreTheSoftOnes) {
  write("proc/7/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max core file size        0                    unlimited            bytes\n"
        "Max address space         unlimited            unlimited            bytes\n");
  EXPECT_EQ(facts().core_size_limit, 0U);
  EXPECT_EQ(facts().address_space_limit, kUnlimited);
}

TEST_F(SystemFactsOf, TheCoreFilterIsHexadecimalAndMappingsAreLines) {
  write("proc/7/coredump_filter", "00000033\n");
  write("proc/7/maps", "a\nb\nc\n");
  EXPECT_EQ(facts().coredump_filter, 0x33U);
  EXPECT_EQ(facts().mapping_count, 3U);
}

TEST_F(SystemFactsOf, TheLimitOfAControlGroupIsRead) {
  write("proc/7/cgroup", "0::/app/server\n");
  write("sys/fs/cgroup/app/server/memory.max", "1000\n");
  write("sys/fs/cgroup/app/server/memory.current", "900\n");
  EXPECT_EQ(facts().group_limit_bytes, 1000U);
  EXPECT_EQ(facts().group_used_bytes, 900U);
  EXPECT_EQ(facts().control_group, "/app/server");
}

TEST_F(SystemFactsOf, AGroupAroundItThatLeavesLessIsTheOneThatCounts) {
  write("proc/7/cgroup", "0::/app/server\n");
  write("sys/fs/cgroup/app/server/memory.max", "max\n");
  write("sys/fs/cgroup/app/server/memory.current", "900\n");
  write("sys/fs/cgroup/app/memory.max", "2000\n");
  write("sys/fs/cgroup/app/memory.current", "1900\n");
  EXPECT_EQ(facts().group_limit_bytes, 2000U);
  EXPECT_EQ(facts().control_group, "/app");
}

TEST_F(SystemFactsOf, GroupsOfTheFirstVersionWriteNoLimitAsALargeNumber) {
  write("proc/7/cgroup", "3:cpu:/x\n5:memory:/x\n0::/x\n");
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "900\n");
  EXPECT_FALSE(facts().group_limit_bytes);
  write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5000\n");
  EXPECT_EQ(facts().group_limit_bytes, 5000U);
}

TEST_F(SystemFactsOf, SettingsOfTheSystemAreRead) {
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  write("sys/kernel/mm/transparent_hugepage/defrag", "[always] defer never\n");
  write("proc/sys/vm/overcommit_memory", "2\n");
  write("proc/sys/vm/max_map_count", "65530\n");
  write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  write("proc/sys/kernel/core_pattern", "core\n");
  write("proc/meminfo", "CommitLimit:  100 kB\nCommitted_AS:  90 kB\n");
  EXPECT_EQ(facts().thp_enabled, "madvise");
  EXPECT_EQ(facts().thp_defrag, "always");
  EXPECT_EQ(facts().overcommit, 2);
  EXPECT_EQ(facts().max_map_count, 65530U);
  EXPECT_EQ(facts().ptrace_scope, 1);
  EXPECT_EQ(facts().core_pattern, "core");
  EXPECT_EQ(facts().commit_limit_bytes, 102400U);
  EXPECT_EQ(facts().committed_bytes, 92160U);
}

TEST(SystemFacts, OwnProcessHasARealSize) {
  const SystemFacts own = read_system_facts("/proc/self");
  ASSERT_TRUE(own.rss_bytes);
  EXPECT_GT(*own.rss_bytes, 100'000U);
  EXPECT_GT(own.mapping_count.value_or(0), 5U);
}

}  // namespace
}  // namespace tarn::observer
