// An array with one element for each size class. The classes of bins, and the first ones of pools, have their
// elements inside; those of later pools lie in blocks, each made when a class of it is first used.
//
// Threads: the elements as their owner says. Any thread makes blocks; they never go.
#pragma once
#include <atomic>

#include "central/classes/size_class.h"
#include "page/memory/metadata.h"

namespace tarn::internal {

/// Elements begin as zeros.
template <typename T>
class PerClass {
 public:
  static constexpr unsigned kInBlock = 256;

  /// What an element is, all zeros where it was never made.
  const T& at(SizeClass size_class) const {
    const T* const made = const_cast<PerClass*>(this)->find(size_class);
    return made != nullptr ? *made : kNone;
  }
  /// \pre make() has succeeded.
  T& made(SizeClass size_class) { return *find(size_class); }

  /// \returns nullptr when it was never made.
  T* find(SizeClass size_class) {
    const unsigned index = index_of_class(size_class);
    if (index < kInBlock) [[likely]]
      return &inside_[index];
    T* const block = behind_[index / kInBlock - 1].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : block + index % kInBlock;
  }

  /// \returns nullptr when memory is refused.
  T* make(SizeClass size_class) {
    if (T* const found = find(size_class)) return found;
    constexpr std::size_t kBytes = kInBlock * sizeof(T);
    auto* const block = static_cast<T*>(metadata.allocate_zeroed(kBytes));
    if (block == nullptr) return nullptr;
    T* none = nullptr;
    if (!behind_[index_of_class(size_class) / kInBlock - 1].compare_exchange_strong(
            none, block, std::memory_order_acq_rel))
      metadata.free(block, kBytes);
    return find(size_class);
  }

 private:
  friend class ObservedLayout;

  static constexpr T kNone{};
  T inside_[kInBlock] = {};
  std::atomic<T*> behind_[detail::kMostClasses / kInBlock - 1] = {};
};

}  // namespace tarn::internal
