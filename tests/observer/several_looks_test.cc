// Looks at several processes: copies of this one, which runs on tarn.
#include <sys/wait.h>

#include "look/several/looks.h"
#include "support/prelude.h"
#include "system/files/files.h"
#include "system/processes/process_tree.h"

namespace tarn::tool {
namespace {

using Numbers = std::vector<int>;

class SeveralLooks : public testing::Test {
 protected:
  void TearDown() override {
    for (const auto& [pid, group] : processes_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  /// \returns the numbers, ascending.
  Numbers start(int copies) {
    for (int i = 0; i < copies; ++i) {
      const int pid = fork();
      if (pid == 0)
        for (;;) pause();
      processes_.emplace(pid, "");
    }
    Numbers numbers;
    for (const auto& [pid, group] : processes_) numbers.push_back(pid);
    return numbers;
  }

  GroupOfProcess processes_;
};

Numbers numbers_of(const Looks& looks) {
  Numbers numbers;
  for (const Looks::Process& process : looks.on_tarn) numbers.push_back(process.pid);
  return numbers;
}

std::string told(const Look&) { return "told\n"; }

TEST_F(SeveralLooks, BeginWhereTheyAreToldAndTellWhatTheyAreOf) {
  const Numbers all = start(3);
  const auto told_when = [](const Look&) {
    return std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + "\n";
  };
  const Looks looks = look_at_each(processes_, told_when, 60, all[1]);
  ASSERT_EQ(numbers_of(looks), all);
  const auto when = [&](std::size_t i) { return std::stoll(looks.on_tarn[i].text); };
  EXPECT_LT(when(1), when(2));
  EXPECT_LT(when(2), when(0));
  EXPECT_EQ(looks.on_tarn[0].start_ticks, start_ticks_of(all[0]));
  EXPECT_NE(looks.on_tarn[0].start_ticks, 0u);
  EXPECT_EQ(looks.next, 0);
}

TEST_F(SeveralLooks, OneThatStallsLeavesTimeForTheNext) {
  const Numbers all = start(2);
  const auto tell = [&](const Look& look) {
    if (look.snapshot.pid == all[0]) pause();
    return told(look);
  };
  const Looks looks = look_at_each(processes_, tell, 4);
  EXPECT_EQ(numbers_of(looks), Numbers{all[1]});
  EXPECT_EQ(looks.failed, Numbers{all[0]});
}

TEST_F(SeveralLooks, TellTheFirstThatHadNoTime) {
  const Numbers all = start(3);
  const auto stall = [&](const Look& look) {
    if (look.snapshot.pid != all[2]) pause();
    return told(look);
  };
  const Looks looks = look_at_each(processes_, stall, 0.4);
  EXPECT_EQ(numbers_of(looks), Numbers());
  EXPECT_GE(looks.refused, 1u);
  EXPECT_EQ(looks.next, all[2]);
}

TEST_F(SeveralLooks, AtOneThatHasLeftItsGroupAreNotTold) {
  const Numbers all = start(2);
  const TemporaryDirectory group;
  const auto has = [&](int pid) { std::ofstream(group.path() / "cgroup.procs") << pid << '\n'; };
  for (auto& [pid, path] : processes_) path = group.path();
  has(all[0]);
  const auto tell = [&](const Look& look) {
    if (look.snapshot.pid == all[0]) has(all[1]);
    return told(look);
  };
  EXPECT_EQ(numbers_of(look_at_each(processes_, tell, 60)), Numbers{all[1]});
}

TEST_F(SeveralLooks, HaveABoundForTheTextOfEach) {
  const Numbers all = start(2);
  const auto tell = [&](const Look& look) {
    std::string text = told(look);
    for (int i = 0; look.snapshot.pid == all[0] && i < (20 << 10); ++i)
      text += std::string(1 << 10, 'x') + "\n";
    return text;
  };
  const Looks looks = look_at_each(processes_, tell, 60);
  EXPECT_EQ(numbers_of(looks), Numbers{all[1]});
  EXPECT_EQ(looks.failed, Numbers{all[0]});
}

}  // namespace
}  // namespace tarn::tool
