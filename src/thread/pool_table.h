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

  /// \returns nullptr when there is none, or the table is hidden. \pre the serial number is a pool's.
  void* find(std::uint32_t slot, std::uint64_t serial) const {
    return slot < shown_size_ ? record_of(entries_[slot], serial) : nullptr;
  }
  /// The same, also in a hidden table.
  void* find_hidden(std::uint32_t slot, std::uint64_t serial) const {
    return slot < size_ ? record_of(entries_[slot], serial) : nullptr;
  }
  /// The same for the pool that keep_at_hand() was last called for. \returns nullptr for all others.
  void* find_at_hand(std::uint64_t serial) const {
    if (at_hand_.serial != serial) return nullptr;
    void* const record = at_hand_.record;
    if (record == nullptr) __builtin_unreachable();
    return record;
  }
  void keep_at_hand(std::uint64_t serial, void* record) {
    if (!is_hidden_) at_hand_ = {serial, record};
  }

  /// From now on find() and find_at_hand() find nothing, so that each call of a pool takes its slow door; and
  /// no longer so.
  void hide() {
    is_hidden_ = true;
    at_hand_ = {};
    shown_size_ = 0;
  }
  void show() {
    is_hidden_ = false;
    shown_size_ = size_;
  }
  /// \returns false when memory is refused. \pre there is no such entry.
  bool add(std::uint32_t slot, std::uint64_t serial, void* record);

 private:
  struct Entry {
    std::uint64_t serial;  // 0: none
    void* record;
  };
  static void* record_of(const Entry& entry, std::uint64_t serial) {
    if (entry.serial != serial) return nullptr;
    if (entry.record == nullptr) __builtin_unreachable();
    return entry.record;
  }

  static constexpr std::uint32_t kFirstSize = 16;

  Entry at_hand_{};
  Entry* entries_ = nullptr;
  std::uint32_t shown_size_ = 0;  // size_, unless the table is hidden
  std::uint32_t size_ = 0;
  bool is_hidden_ = false;
};

}  // namespace tarn::internal
