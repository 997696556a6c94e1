// All threads' events in one order that can have happened.
//
// The order numbers of events never fall from a cause to its effect: a block's allocation is numbered after
// it, its free before it, and the number is one that all threads share. So events of different numbers come
// in the order of these, and only among events of one number must it be found out which came first: a block
// that is live cannot be handed out, one that is free cannot be freed. An event that cannot happen yet
// waits until all events up to its own number have; then what it waits for is not in the trace (the block
// was live before the recording, or events are lost), and it happens regardless.
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "trace/event_source.h"

namespace tarn::trace {

/// What a block's life is made of, told in the merged order.
struct Happening {
  enum class Kind : std::uint8_t { kAllocate, kAllocateZeroed, kResize, kFree };
  Kind kind;
  std::uint32_t thread;
  std::uint32_t block;  // a number of its own for each block that is live; one that has ended leaves it
  std::uint64_t size;   // not of a free
  unsigned alignment_log2;
};

struct MergeCounts {
  std::uint64_t unknown_frees = 0;  // of blocks that the trace does not know
  std::uint64_t missed_frees = 0;   // of blocks that were handed out again
};

class Merger {
 public:
  using Tell = std::function<void(const Happening&)>;
  Merger(EventSource& source, Tell tell);
  MergeCounts to_end();
  /// To be called while something is told: nothing is told any more.
  void stop() { is_stopped_ = true; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kMostEvents = std::size_t{1} << 22;  // of all chunks that are held
  /// Where a thread is. Its chunk may be dropped, and is read again then.
  struct Cursor {
    ThreadEvents held;
    std::size_t chunk = 0, next = 0;  // the next event
    std::uint64_t used_at = 0;
    std::uint32_t resizing = kNone;  // the block of a kResizeFrom
  };
  struct Turn {
    std::uint64_t order;
    std::uint32_t thread;
    bool operator>(const Turn& other) const {
      return order != other.order ? order > other.order : thread > other.thread;
    }
  };

  ThreadEvents& held(std::uint32_t thread);
  const Event& event_of(std::uint32_t thread) { return held(thread).events[cursors_[thread].next]; }
  void drop_chunks_beside(std::uint32_t thread);
  void go_on(std::uint32_t thread);
  std::uint32_t new_number();
  void tell_end(std::uint32_t thread, std::uint32_t block);
  bool can_happen(const Event& event) const;
  void happen(std::uint32_t thread);
  void give_up_resizing(std::uint32_t thread);
  void allocate(std::uint32_t thread, const Event& event, Happening::Kind kind);
  void end(std::uint32_t thread, std::uint64_t address);
  void queue_next(std::uint32_t thread);
  void wake(std::uint64_t address);
  void force_first();

  EventSource& source_;
  Tell tell_;
  std::vector<Cursor> cursors_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready_;
  std::vector<Turn> waiting_;
  std::unordered_map<std::uint64_t, std::uint32_t> live_;  // address to block
  std::uint32_t next_block_ = 0;
  std::vector<std::uint32_t> free_numbers_;
  std::size_t events_held_ = 0;
  std::uint64_t uses_ = 0;
  bool is_stopped_ = false;
  MergeCounts counts_;
};

}  // namespace tarn::trace
