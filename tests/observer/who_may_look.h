// Which user may look into which process: what tests of it share.
#pragma once
#include "observer/process/source.h"
#include "support/child.h"
#include "support/error_of.h"
#include "support/prelude.h"

namespace tarn::observer::test {

using namespace tarn::test;

constexpr uid_t kNobody = 65534;

inline constexpr auto error_of = tarn::test::error_of<ObserveError, std::function<void()>>;

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline void become_nobody() {
  if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
}

/// What a child that became somebody else gets to read or to hear.
inline std::string seen_by(const std::function<void()>& become, pid_t pid) {
  const tarn::test::ChildResult result = tarn::test::run_in_child([&] {
    become();
    const std::string error = error_of([&] { open_process(pid); });
    std::printf("%s", error.empty() ? "it can look" : error.c_str());
    std::fflush(stdout);
    return 0;
  });
  return result.output;
}

class WhoMayLook : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become others";
  }
};

}  // namespace tarn::observer::test
