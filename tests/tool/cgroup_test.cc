#include "look/several/cgroup.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "look/metrics/metrics_of_cgroup.h"
#include "observer/process/source.h"
#include "scratch_directory.h"
#include "support/error_of.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int>;

Numbers numbers_of(const Cgroup& cgroup) {
  Numbers numbers;
  for (const auto& [pid, group] : cgroup.processes) numbers.push_back(pid);
  return numbers;
}

/// Folders and files as a cgroup has them.
class CgroupFiles : public testing::Test {
 protected:
  CgroupFiles() { add_group(".", ""); }

  void add_group(const std::string& name, const std::string& processes) const {
    fs::create_directories(files_.path(name));
    files_.add_file(name + "/cgroup.procs", processes);
  }
  std::string find(const std::string& word) const { return find_cgroup(word, root_); }
  std::string refusal(const std::string& word) const {
    return test::error_of<observer::ObserveError>([&] { find(word); });
  }

  const ScratchDirectory files_;
  const std::string root_ = files_.path();
};

TEST_F(CgroupFiles, AreFoundByPathAndByTheNameOfAUnit) {
  add_group("system.slice/redis.service", "1\n");
  const std::string redis = root_ + "/system.slice/redis.service";
  EXPECT_EQ(find("system.slice/redis.service"), redis);
  EXPECT_EQ(find("/system.slice/redis.service"), root_ + "//system.slice/redis.service");
  EXPECT_EQ(find("redis.service"), redis);
  EXPECT_EQ(find_cgroup(redis, "/no/such/root"), redis);
  EXPECT_EQ(refusal("nginx.service"), "there is no cgroup 'nginx.service' below " + root_);
  add_group("user.slice/redis.service", "2\n");
  EXPECT_NE(refusal("redis.service").find("2 cgroups are named 'redis.service': take one of "),
            std::string::npos);
}

TEST_F(CgroupFiles, ThatAUserHasNamedAreNotTakenByRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a group away";
  constexpr uid_t kUser = 1000;
  add_group("user.slice/user@1000.service", "");
  add_group("user.slice/user@1000.service/within/redis.service", "2\n");
  ASSERT_EQ(chown(files_.path("user.slice/user@1000.service").c_str(), kUser, kUser), 0);
  EXPECT_EQ(find("user@1000.service"), root_ + "/user.slice/user@1000.service");
  EXPECT_EQ(refusal("redis.service"), "there is no cgroup 'redis.service' below " + root_);
  EXPECT_NE(find("user.slice/user@1000.service/within/redis.service"), "");
  add_group("system.slice/redis.service", "1\n");
  EXPECT_EQ(find("redis.service"), root_ + "/system.slice/redis.service");
}

TEST_F(CgroupFiles, AreReadHoweverDeepWithFewOpenFiles) {
  std::string deep = "a";
  for (int depth = 0; depth < 40; ++depth) add_group(deep += "/d", "");
  add_group(deep, "7\n");
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit few = {20, files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Numbers numbers = numbers_of(read_cgroup(root_));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(numbers, Numbers{7});
}

TEST_F(CgroupFiles, OfVersion1AreThoseOfTheMemory) {
  fs::remove(root_ + "/cgroup.procs");
  add_group("memory/a", "1\n");
  add_group("unified/a", "1\n");
  add_group("unified/b", "1\n");
  EXPECT_EQ(find("a"), root_ + "/memory/a");
  EXPECT_EQ(find("b"), root_ + "/unified/b");
  EXPECT_EQ(find("unified/a"), root_ + "/unified/a");
  files_.add_file("memory/a/memory.usage_in_bytes", "4096\n");
  files_.add_file("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  const Cgroup cgroup = read_cgroup(root_ + "/memory/a");
  EXPECT_EQ(cgroup.memory_bytes, 4096u);
  EXPECT_EQ(cgroup.memory_max_bytes, std::nullopt);
}

TEST_F(CgroupFiles, TellTheProcessesOfAllGroupsWithinAndTheMemory) {
  add_group("a", "30\n7\n");
  add_group("a/b/c", "7\n2000000\n");
  files_.add_file("a/memory.current", "123456789\n");
  files_.add_file("a/memory.max", "max\n");
  Cgroup cgroup = read_cgroup(root_ + "/a");
  EXPECT_EQ(numbers_of(cgroup), (Numbers{7, 30, 2000000}));
  EXPECT_EQ(cgroup.processes.at(7), root_ + "/a");
  EXPECT_EQ(cgroup.processes.at(2000000), root_ + "/a/b/c");
  EXPECT_TRUE(is_in_group(30, root_ + "/a"));
  EXPECT_FALSE(is_in_group(30, root_ + "/a/b/c"));
  EXPECT_FALSE(is_in_group(30, root_ + "/gone"));
  EXPECT_EQ(cgroup.memory_bytes, 123456789u);
  EXPECT_EQ(cgroup.memory_max_bytes, std::nullopt);
  files_.add_file("a/memory.max", "2147483648\n");
  EXPECT_EQ(read_cgroup(root_ + "/a").memory_max_bytes, 2147483648u);
  EXPECT_EQ(read_cgroup(root_ + "/a/b/c").memory_bytes, std::nullopt);
}

TEST_F(CgroupFiles, ThatMeanHarmAreReadWithBounds) {
  add_group("a", "0\n-5\nx\n99999999999\n12 garbage\n\n" + std::string(1 << 20, '3'));
  add_group("outside", "77\n");
  fs::create_directory_symlink(root_ + "/outside", files_.path("a/link"));
  add_group("a/pipe", "");
  fs::remove(files_.path("a/pipe/cgroup.procs"));
  ASSERT_EQ(mkfifo(files_.path("a/pipe/cgroup.procs").c_str(), 0600), 0);
  files_.add_file("a/memory.current", std::string(1 << 20, '9'));
  const Cgroup cgroup = read_cgroup(root_ + "/a");
  EXPECT_EQ(numbers_of(cgroup), Numbers{12});
  EXPECT_EQ(cgroup.memory_bytes, std::nullopt);
  std::string many;
  for (int pid = 1; pid <= 10'000; ++pid) many += std::to_string(pid) + "\n";
  add_group("many", many);
  EXPECT_EQ(read_cgroup(root_ + "/many").processes.size(), 4096u);
}

TEST_F(CgroupFiles, ThatAreGoneAreNoCgroup) {
  EXPECT_EQ(test::error_of<observer::ObserveError>([&] { read_cgroup(root_ + "/gone"); }),
            "the cgroup " + root_ + "/gone is gone");
}

TEST(JoinedMetrics, StandTogetherWithTheLabelsOfEach) {
  const std::string text =
      joined({{"pid=\"1\"",
               "# HELP a Of a.\n# TYPE a gauge\na 1\n# HELP b Of b.\n# TYPE b gauge\nb{size=\"2\"} 3\n"},
              {"pid=\"4\"", "# HELP b Of b.\n# TYPE b gauge\nb{size=\"2\"} 5\nb{size=\"6\"} 7\n"},
              {"pid=\"8\"", "stray 1\n# HELP a Of a.\n# TYPE a gauge\na 9\n"}});
  EXPECT_EQ(text,
            "# HELP a Of a.\n# TYPE a gauge\na{pid=\"1\"} 1\na{pid=\"8\"} 9\n"
            "# HELP b Of b.\n# TYPE b gauge\nb{pid=\"1\",size=\"2\"} 3\n"
            "b{pid=\"4\",size=\"2\"} 5\nb{pid=\"4\",size=\"6\"} 7\n");
}

TEST(PageOfCgroup, SaysWhatCouldNotBeLookedAt) {
  CgroupLook look;
  look.path = "/sys/fs/cgroup/a\"b.slice";
  look.refused = 2;
  look.cgroup.memory_bytes = 5;
  const std::string page = page_of_cgroup(look);
  for (const char* line : {"\ntarn_up 0\n", "\n# tarn: no process that may be looked at runs on tarn\n",
                           "\n# tarn: 2 processes could not be looked at\n",
                           "\ntarn_cgroup_memory_bytes{cgroup=\"a\\\"b.slice\"} 5\n"})
    EXPECT_NE(page.find(line), std::string::npos) << page;
  EXPECT_EQ(page.find("max_bytes"), std::string::npos);
  look.failed = {getpid()};
  EXPECT_NE(page_of_cgroup(look).find("\ntarn_up{pid=\"" + std::to_string(getpid()) +
                                      "\",program=\"tarn_tool_tests\"} 0\n"),
            std::string::npos)
      << page_of_cgroup(look);
}

}  // namespace
}  // namespace tarn::tool
