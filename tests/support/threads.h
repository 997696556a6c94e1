// Threads of a test that do the same, each with its number, and begin together.
#pragma once
#include <barrier>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarn::test {

class Threads {
 public:
  /// Calls work(0) to work(count - 1), or work() where it takes no number, each in a thread with its copy.
  /// \post all have begun, and none before the last was there
  template <typename Count, typename Work>
  Threads(Count count, Work work) : start_(static_cast<std::ptrdiff_t>(count) + 1) {
    for (Count number = 0; number < count; ++number)
      threads_.emplace_back([=, this]() mutable {
        start_.arrive_and_wait();
        if constexpr (std::is_invocable_v<Work&, Count>)
          work(number);
        else
          work();
      });
    start_.arrive_and_wait();
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::barrier<> start_;
  std::vector<std::thread> threads_;
};

/// The same, and waits until all have ended.
template <typename Count, typename Work>
void in_threads(Count count, Work work) {
  Threads(count, std::move(work)).join();
}

}  // namespace tarn::test
