// Waits for what another thread brings about.
#pragma once
#include <chrono>
#include <thread>

namespace tarn::test {

/// \returns whether the condition came true within 20 seconds.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace tarn::test
