// What a thread has of the pools that it uses: a record for each, found by the pool's slot.
//
// A slot is a small number that a pool has while it lives; another may have it later. So an entry also names
// the pool by its serial number, which no other ever has: the record of a pool that has ended is not looked
// at. The pool whose record was last made or looked for in a slow call is at hand: a thread that uses one
// pool much finds that record with fewer loads.
// Threads: its own. With the thread's heap, the table goes to the next thread.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

class PoolTable {
 public:
  static constexpr std::uint32_t kMostSlots = 65536;

  /// \returns nullptr when there is none. \pre the serial number is a pool's.
  void* find(std::uint32_t slot, std::uint64_t serial) const {
    if (slot >= size_ || entries_[slot].serial != serial) return nullptr;
    void* const record = entries_[slot].record;
    if (record == nullptr) __builtin_unreachable();
    return record;
  }
  /// The same for the pool that keep_at_hand() was last called for. \returns nullptr for all others.
  void* find_at_hand(std::uint64_t serial) const {
    if (at_hand_.serial != serial) return nullptr;
    void* const record = at_hand_.record;
    if (record == nullptr) __builtin_unreachable();
    return record;
  }
  void keep_at_hand(std::uint64_t serial, void* record) { at_hand_ = {serial, record}; }
  /// \returns false when memory is refused. \pre there is no such entry.
  bool add(std::uint32_t slot, std::uint64_t serial, void* record);

 private:
  struct Entry {
    std::uint64_t serial;  // 0: none
    void* record;
  };
  static constexpr std::uint32_t kFirstSize = 16;

  Entry at_hand_{};
  Entry* entries_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace tarn::internal
