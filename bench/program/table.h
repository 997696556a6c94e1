// An array that does not come from the allocator under test: mapped, resident before the clock starts,
// unmapped at the end. What a workload writes down about its blocks stands in tables.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace tarn::bench {

template <class T>
class Table {
  static_assert(std::is_trivially_destructible_v<T>, "elements are unmapped, never destroyed");

 public:
  explicit Table(std::size_t count) : count_(count) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("bench: mmap");
      std::_Exit(1);
    }
    elements_ = static_cast<T*>(memory);
  }
  ~Table() { munmap(elements_, count_ * sizeof(T)); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  T& operator[](std::size_t index) { return elements_[index]; }
  const T& operator[](std::size_t index) const { return elements_[index]; }
  T* begin() { return elements_; }
  T* end() { return elements_ + count_; }
  const T* begin() const { return elements_; }
  const T* end() const { return elements_ + count_; }
  std::size_t size() const { return count_; }

 private:
  T* elements_;
  std::size_t count_;
};

}  // namespace tarn::bench
