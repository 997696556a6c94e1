// As tarn/handle_pool.h, over a mutex and a vector of slots.
#pragma once
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "tarn/detail/construct.h"
#include "tarn/object_pool.h"

namespace TARN_NAMESPACE {

template <typename T>
struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // odd; 0 in the null handle

  explicit operator bool() const noexcept { return generation != 0; }
  friend bool operator==(const Handle&, const Handle&) = default;
  friend std::strong_ordering operator<=>(const Handle&, const Handle&) = default;
};

template <typename T>
class HandlePool {
 public:
  static_assert(std::is_object_v<T> && !std::is_array_v<T>, "a pool of objects");

  using value_type = T;

  explicit HandlePool(const ObjectPoolOptions& options = {}) : pool_(options) {}
  template <std::convertible_to<PoolName> Name>
  explicit HandlePool(const Name& name) : HandlePool(ObjectPoolOptions{.name = name}) {}
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;
  template <std::same_as<HandlePool> Moved>
  HandlePool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  template <typename... Arguments>
  [[nodiscard]] Handle<T> create(Arguments&&... arguments) {
    struct EndsUnnamed {  // what found no slot, because there was no memory for one
      ~EndsUnnamed() {
        if (object != nullptr) pool.destroy(object);
      }
      ObjectPool<T>& pool;
      T* object;
    };
    EndsUnnamed made{pool_, pool_.create(std::forward<Arguments>(arguments)...)};
    const std::lock_guard guard(mutex_);
    if (free_.empty()) {
      slots_.emplace_back();
      free_.reserve(slots_.capacity());  // destroy() throws nothing
      free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].object = std::exchange(made.object, nullptr);
    return {slot, ++slots_[slot].generation};
  }
  [[nodiscard]] Handle<T> create_for_overwrite() { return create(detail::ForOverwrite()); }

  [[nodiscard]] T* get(Handle<T> handle) const noexcept {
    const std::lock_guard guard(mutex_);
    return is_live(handle) ? slots_[handle.slot].object : nullptr;
  }
  T& at(Handle<T> handle) const noexcept {
    T* const object = get(handle);
    if (object == nullptr) detail::stop("stale handle", "handle pool", nullptr);
    return *object;
  }
  bool destroy(Handle<T> handle) noexcept {
    T* object = nullptr;
    {
      const std::lock_guard guard(mutex_);
      if (!is_live(handle)) return false;
      Slot& slot = slots_[handle.slot];
      object = std::exchange(slot.object, nullptr);
      if (++slot.generation != 0) free_.push_back(handle.slot);  // else it is used up
    }
    pool_.destroy(object);
    return true;
  }

  /// In the order of slots.
  template <typename Visit>
  void for_each_live(Visit&& visit) {
    for (std::uint32_t slot = 0;; ++slot) {
      Slot found;
      {
        const std::lock_guard guard(mutex_);
        if (slot >= slots_.size()) return;
        found = slots_[slot];
      }
      if (found.object != nullptr) visit(Handle<T>{slot, found.generation}, *found.object);
    }
  }

  std::size_t live_count() const noexcept { return pool_.live_count(); }
  std::size_t prewarm(std::size_t count) noexcept { return pool_.prewarm(count); }
  std::size_t release_unused() noexcept { return 0; }

 private:
  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 0;
  };

  bool is_live(Handle<T> handle) const {
    return (handle.generation & 1) != 0 && handle.slot < slots_.size() &&
           slots_[handle.slot].generation == handle.generation;
  }

  ObjectPool<T> pool_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace TARN_NAMESPACE

template <typename T>
struct std::hash<tarn::Handle<T>> {
  std::size_t operator()(const tarn::Handle<T>& handle) const noexcept {
    return std::hash<std::uint64_t>()(std::uint64_t{handle.generation} << 32 | handle.slot);
  }
};
