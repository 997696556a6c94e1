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
[[noreturn]] TARN_API void stop_at_stale_handle(const char* pool, std::uint32_t slot, std::uint32_t generation) noexcept;

/// The table of slots: pages that are made when they are needed and stay.
class HandleSlots {
 public:
  HandleSlots() : pages_(static_cast<std::atomic<HandleSlot*>*>(allocate_zeroed(kPageCount, sizeof(void*)))) {
    if (pages_ == nullptr) throw_bad_alloc();
  }
  ~HandleSlots() {
    for (std::uint32_t i = 0; i * kSlotsPerPage < count(); ++i) deallocate(pages_[i].load(std::memory_order_relaxed));
    deallocate(pages_);
  }
  HandleSlots(const HandleSlots&) = delete;
  HandleSlots& operator=(const HandleSlots&) = delete;

  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// \pre slot < count().
  HandleSlot& operator[](std::uint32_t slot) const {
    return pages_[slot / kSlotsPerPage].load(std::memory_order_acquire)[slot % kSlotsPerPage];
  }

  /// \throws std::bad_alloc when memory is refused or four million slots are taken.
  std::uint32_t take() {
    MutexGuard guard(mutex_);
    if (first_free_ != kNoSlot) {
      const std::uint32_t slot = first_free_;
      first_free_ = (*this)[slot].next_free;
      return slot;
    }
    const std::uint32_t slot = count_.load(std::memory_order_relaxed);
    if (slot % kSlotsPerPage == 0) {
      void* const page = slot < kSlotsPerPage * kPageCount ? allocate_zeroed(kSlotsPerPage, sizeof(HandleSlot)) : nullptr;
      if (page == nullptr) throw_bad_alloc();
      pages_[slot / kSlotsPerPage].store(static_cast<HandleSlot*>(page), std::memory_order_release);
    }
    count_.store(slot + 1, std::memory_order_release);
    return slot;
  }
  void give_back(std::uint32_t slot) {
    MutexGuard guard(mutex_);
    (*this)[slot].next_free = first_free_;
    first_free_ = slot;
  }

 private:
  static constexpr std::uint32_t kSlotsPerPage = 1024;
  static constexpr std::uint32_t kPageCount = 4096;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  std::atomic<HandleSlot*>* const pages_;
  Mutex mutex_;
  std::uint32_t first_free_ = kNoSlot;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace detail

template <typename T>
class HandlePool {
 public:
  /// \throws std::bad_alloc when memory is refused.
  explicit HandlePool(const ObjectPoolOptions& options = {}) : objects_(options) {
    for (std::size_t i = 0; i + 1 < sizeof name_ && options.name[i] != '\0'; ++i) name_[i] = options.name[i];
  }
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;
  // Objects that are live at its end do as the option at_end says. No other thread may use the pool any more.

  /// \cost that of ObjectPool::create, and a mutex.
  template <typename... Arguments>
  [[nodiscard]] Handle<T> create(Arguments&&... arguments) {
    const std::uint32_t slot = slots_.take();
    T* object = nullptr;
#if defined(__cpp_exceptions)
    try {
      object = objects_.create(std::forward<Arguments>(arguments)...);
    } catch (...) {
      slots_.give_back(slot);
      throw;
    }
#else
    object = objects_.create(std::forward<Arguments>(arguments)...);
#endif
    detail::HandleSlot& entry = slots_[slot];
    entry.object.store(object, std::memory_order_release);
    return {slot, entry.generation.fetch_add(1, std::memory_order_release) + 1};
  }

  /// The object; nullptr when it has ended. \cost four loads.
  T* get(Handle<T> handle) const noexcept {
    if (handle.generation == 0 || handle.slot >= slots_.count()) return nullptr;
    const detail::HandleSlot& entry = slots_[handle.slot];
    // Whoever sees the next object also sees that its generation is another.
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_acquire));
    return entry.generation.load(std::memory_order_acquire) == handle.generation ? object : nullptr;
  }

  /// The object; the process stops when it has ended.
  T& at(Handle<T> handle) const noexcept {
    T* const object = get(handle);
    if (object == nullptr) [[unlikely]]
      detail::stop_at_stale_handle(name_, handle.slot, handle.generation);
    return *object;
  }

  /// Ends the object. \returns false when it had ended already: of two calls one gets true.
  bool destroy(Handle<T> handle) noexcept {
    if (handle.generation == 0 || handle.slot >= slots_.count()) return false;
    detail::HandleSlot& entry = slots_[handle.slot];
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_acquire));
    std::uint32_t generation = handle.generation;
    if (!entry.generation.compare_exchange_strong(generation, generation + 1, std::memory_order_acq_rel)) return false;
    objects_.destroy(object);
    slots_.give_back(handle.slot);
    return true;
  }

  std::size_t live_count() const noexcept { return objects_.live_count(); }

 private:
  char name_[32] = {};
  detail::HandleSlots slots_;
  ObjectPool<T> objects_;  // the last: its objects end while the slots are still there
};

}  // namespace tarn
