// An ObjectPool whose objects are reached by handles; a handle detects that its object has ended. Use it to
// find uses of ended objects, and for references that may outlive their object (an entity that another entity
// aims at).
//
// A handle is a slot and a generation. Each slot counts its generations; the count is odd while the slot
// holds an object. A handle is valid while its generation equals the slot's. Slots lie in a table apart from
// the objects and stay there while the pool lives, so even an old handle can be checked.
//
// Threads: any. get() takes no lock; another thread may still destroy the object right after.
// Errors: create throws std::bad_alloc. For a handle whose object has ended, get returns nullptr, destroy
// returns false, and at() stops the process with one line.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/object_pool.h"

namespace TARN_NAMESPACE {

template <typename T>
struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // 0: a handle that never has an object

  explicit operator bool() const noexcept { return generation != 0; }
  friend bool operator==(const Handle&, const Handle&) = default;
};

namespace detail {

struct HandleSlot {
  std::atomic<void*> object;
  std::atomic<std::uint32_t> generation;
  std::uint32_t next_free;
};

/// The table of slots: its pages are made when needed and stay. It lies in the library, beside the mutex that
/// guards taking and returning slots.
struct HandleTable {
  static constexpr std::uint32_t kSlotsPerPage = 4096;
  static constexpr std::uint32_t kPageCount = 1024;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  std::atomic<std::uint32_t> count;
  std::atomic<HandleSlot*> pages[kPageCount];

  /// \pre slot < count.
  HandleSlot& operator[](std::uint32_t slot) const {
    return pages[slot / kSlotsPerPage].load(std::memory_order_acquire)[slot % kSlotsPerPage];
  }
};

/// \returns nullptr when memory is refused.
TARN_API HandleTable* make_handle_table(const char* name) noexcept;
TARN_API void end_handle_table(HandleTable* table) noexcept;
/// \returns kNoSlot when memory is refused or four million slots are taken.
TARN_API std::uint32_t take_handle_slot(HandleTable* table) noexcept;
TARN_API void give_back_handle_slot(HandleTable* table, std::uint32_t slot) noexcept;
/// Ends the process with the pool's name and the handle.
[[noreturn]] TARN_API void stop_at_stale_handle(HandleTable* table, std::uint32_t slot,
                                                std::uint32_t generation) noexcept;

/// A pool's table; lives as long as the pool.
class HandleSlots {
 public:
  explicit HandleSlots(const char* name) : table_(make_handle_table(name)) {
    if (table_ == nullptr) throw_bad_alloc();
  }
  ~HandleSlots() { end_handle_table(table_); }
  HandleSlots(const HandleSlots&) = delete;
  HandleSlots& operator=(const HandleSlots&) = delete;

  std::uint32_t count() const { return table_->count.load(std::memory_order_acquire); }
  /// \pre slot < count().
  HandleSlot& operator[](std::uint32_t slot) const { return (*table_)[slot]; }

  /// \throws std::bad_alloc when memory is refused or four million slots are taken.
  std::uint32_t take() {
    const std::uint32_t slot = take_handle_slot(table_);
    if (slot == HandleTable::kNoSlot) [[unlikely]]
      throw_bad_alloc();
    return slot;
  }
  void give_back(std::uint32_t slot) { give_back_handle_slot(table_, slot); }

  [[noreturn]] void stop_at_stale(std::uint32_t slot, std::uint32_t generation) const {
    stop_at_stale_handle(table_, slot, generation);
  }

 private:
  HandleTable* const table_;
};

}  // namespace detail

template <typename T>
class HandlePool {
 public:
  /// \throws std::bad_alloc when memory is refused.
  explicit HandlePool(const ObjectPoolOptions& options = {}) : slots_(options.name), objects_(options) {}
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;
  // The option at_end decides the fate of objects that are live here. \pre no other thread uses the pool.

  /// \cost ObjectPool::create, and a mutex.
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

  /// \returns the object; nullptr when it has ended. \cost four loads.
  T* get(Handle<T> handle) const noexcept {
    if (handle.generation == 0 || handle.slot >= slots_.count()) return nullptr;
    const detail::HandleSlot& entry = slots_[handle.slot];
    // Acquire: a thread that reads the slot's next object also reads its new generation.
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_acquire));
    return entry.generation.load(std::memory_order_acquire) == handle.generation ? object : nullptr;
  }

  /// \returns the object; stops the process when it has ended.
  T& at(Handle<T> handle) const noexcept {
    T* const object = get(handle);
    if (object == nullptr) [[unlikely]]
      slots_.stop_at_stale(handle.slot, handle.generation);
    return *object;
  }

  /// Destroys the object. \returns false when it had ended already: of two calls, one returns true.
  bool destroy(Handle<T> handle) noexcept {
    if (handle.generation == 0 || handle.slot >= slots_.count()) return false;
    detail::HandleSlot& entry = slots_[handle.slot];
    T* const object = static_cast<T*>(entry.object.load(std::memory_order_acquire));
    std::uint32_t generation = handle.generation;
    if (!entry.generation.compare_exchange_strong(generation, generation + 1, std::memory_order_acq_rel))
      return false;
    objects_.destroy(object);
    slots_.give_back(handle.slot);
    return true;
  }

  std::size_t live_count() const noexcept { return objects_.live_count(); }

 private:
  detail::HandleSlots slots_;
  ObjectPool<T> objects_;  // the last member: its objects end while the slots still exist
};

}  // namespace TARN_NAMESPACE
