#include "observer/process/refusal.h"

#include <gtest/gtest.h>

namespace tarn::observer {
namespace {

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
