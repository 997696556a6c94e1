// An ObjectPool whose objects are reached by handles that know when their object has ended: the form for finding uses of
// ended objects, and for references that may outlive what they name (an entity that another one aims at).
//
// A handle is a slot and a generation. A slot counts its generations, odd while it holds an object; a handle is good while
// its generation is its slot's. Slots lie in a table apart from the objects and are never given back while the pool
// lives, so an old handle is always answered.
//
// Threads: any. get() takes no lock; the object may still end in another thread right after.
// Errors: create throws std::bad_alloc; get answers nullptr and destroy false to a handle whose object has ended; at()
// stops the process with one line.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tarn/detail/mutex.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn {

template <typename T>
struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // 0: no object, ever

  explicit operator bool() const noexcept { return generation != 0; }
  friend bool operator==(const Handle&, const Handle&) = default;
};

namespace detail {

struct HandleSlot {
  std::atomic<void*> object;
  std::atomic<std::uint32_t> generation;
  std::uint32_t next_free;
};

/// Ends the process with the pool's name and the handle.
[[noreturn]] TARN_API void stop_at_stale_handle(const char* pool, std::uint32_t slot) noexcept;

}  // namespace detail

template <typename T>
class HandlePool {
 public:
  explicit HandlePool(const ObjectPoolOptions& options = {}) : objects_(options), name_(options.name) {}
  /// Objects that are live end as the option at_end says. \pre no other thread uses the pool any more; the name given to
  /// it is still there.
  ~HandlePool() {
    for (std::atomic<detail::HandleSlot*>& page : pages_) deallocate(page.load(std::memory_order_relaxed));
  }
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  /// \cost that of ObjectPool::create, and a mutex.
  template <typename... Arguments>
  [[nodiscard]] Handle<T> create(Arguments&&... arguments) {
    const std::uint32_t slot = take_slot();
    T* object = nullptr;
#if defined(__cpp_exceptions)
    try {
      object = objects_.create(std::forward<Arguments>(arguments)...);
    } catch (...) {
      give_slot_back(slot);
      throw;
    }
#else
    object = objects_.create(std::forward<Arguments>(arguments)...);
#endif
    detail::HandleSlot& entry = slot_at(slot);
    entry.object.store(object, std::memory_order_relaxed);
    return {slot, entry.generation.fetch_add(1, std::memory_order_release) + 1};
  }

  /// The object; nullptr when it has ended. \cost three loads.
  T* get(Handle<T> handle) const noexcept {
    if (handle.generation == 0 || handle.slot >= slot_count_.load(std::memory_order_acquire)) return nullptr;
    const detail::HandleSlot& entry = slot_at(handle.slot);
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_relaxed));
    return entry.generation.load(std::memory_order_acquire) == handle.generation ? object : nullptr;
  }

  /// The object; the process stops when it has ended.
  T& at(Handle<T> handle) const noexcept {
    T* const object = get(handle);
    if (object == nullptr) [[unlikely]]
      detail::stop_at_stale_handle(name_, handle.slot);
    return *object;
  }

  /// Ends the object. \returns false when it had ended already: of two calls one gets true.
  bool destroy(Handle<T> handle) noexcept {
    if (handle.generation == 0 || handle.slot >= slot_count_.load(std::memory_order_acquire)) return false;
    detail::HandleSlot& entry = slot_at(handle.slot);
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_relaxed));
    std::uint32_t generation = handle.generation;
    if (!entry.generation.compare_exchange_strong(generation, generation + 1, std::memory_order_acq_rel)) return false;
    objects_.destroy(object);
    give_slot_back(handle.slot);
    return true;
  }

  std::size_t live_count() const noexcept { return objects_.live_count(); }

 private:
  static constexpr std::uint32_t kSlotsPerPage = 1024;
  static constexpr std::uint32_t kPageCount = 4096;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  detail::HandleSlot& slot_at(std::uint32_t slot) const {
    return pages_[slot / kSlotsPerPage].load(std::memory_order_acquire)[slot % kSlotsPerPage];
  }

  std::uint32_t take_slot() {
    detail::MutexGuard guard(mutex_);
    if (first_free_ != kNoSlot) {
      const std::uint32_t slot = first_free_;
      first_free_ = slot_at(slot).next_free;
      return slot;
    }
    const std::uint32_t slot = slot_count_.load(std::memory_order_relaxed);
    if (slot % kSlotsPerPage == 0) {
      void* const page =
          slot < kSlotsPerPage * kPageCount ? allocate_zeroed(kSlotsPerPage, sizeof(detail::HandleSlot)) : nullptr;
      if (page == nullptr) detail::throw_bad_alloc();
      pages_[slot / kSlotsPerPage].store(static_cast<detail::HandleSlot*>(page), std::memory_order_release);
    }
    slot_count_.store(slot + 1, std::memory_order_release);
    return slot;
  }

  void give_slot_back(std::uint32_t slot) {
    detail::MutexGuard guard(mutex_);
    slot_at(slot).next_free = first_free_;
    first_free_ = slot;
  }

  ObjectPool<T> objects_;
  const char* name_;
  detail::Mutex mutex_;
  std::uint32_t first_free_ = kNoSlot;
  std::atomic<std::uint32_t> slot_count_{0};
  std::atomic<detail::HandleSlot*> pages_[kPageCount] = {};
};

}  // namespace tarn
