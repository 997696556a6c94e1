// The typed free list of source 004, written anew from the description.
//
// The source's: a thread takes nodes from its own chunk by moving a pointer. A node is the object and, behind
// it, a pointer to its chunk, so that the object's address is the node's. A chunk counts the nodes that have
// not come back; whichever thread brings the last of them makes the chunk available to all threads.
// Filled in: chunks have 512 nodes; those that are free are a list behind a mutex; a thread that ends gives
// back the nodes of its chunk that it never took.
#pragma once
#include <atomic>
#include <mutex>
#include <utility>

#include "upstream.h"

namespace tarn::bench::source_004 {

template <class T, class Upstream = SystemMemory>
class ThreadChunks {
 public:
  static constexpr std::size_t kNodesPerChunk = 512;

  /// Memory for a T.
  static void* allocate() {
    if (turn.next == turn.end) [[unlikely]]
      start_chunk();
    return turn.next++;
  }

  static void deallocate(void* object) { static_cast<Node*>(object)->chunk->bring_back(1); }

  /// Leaves the thread's chunk, as the thread's end does.
  static void leave_chunk() {
    const Turn left = std::exchange(turn, Turn());
    if (left.next != left.end) left.next->chunk->bring_back(static_cast<std::size_t>(left.end - left.next));
  }

  static void release_free_chunks() { free_chunks.release(); }

 private:
  struct Chunk;
  struct Node {
    alignas(T) unsigned char object[sizeof(T)];
    Chunk* chunk;
  };

  struct Chunk {
    Chunk() {
      for (Node& node : nodes) node.chunk = this;
    }
    void bring_back(std::size_t count) {
      if (outstanding.fetch_sub(count, std::memory_order_acq_rel) == count) free_chunks.add(*this);
    }

    std::atomic<std::size_t> outstanding = kNodesPerChunk;
    Chunk* next = nullptr;
    Node nodes[kNodesPerChunk];
  };

  class FreeChunks {
   public:
    constexpr FreeChunks() = default;
    ~FreeChunks() { release(); }
    FreeChunks(const FreeChunks&) = delete;
    FreeChunks& operator=(const FreeChunks&) = delete;

    void add(Chunk& chunk) {
      chunk.outstanding.store(kNodesPerChunk, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      chunk.next = first_;
      first_ = &chunk;
    }
    /// nullptr if there is none
    Chunk* take() {
      const std::lock_guard lock(mutex_);
      return first_ == nullptr ? nullptr : std::exchange(first_, first_->next);
    }
    void release() {
      while (Chunk* const chunk = take()) Upstream::deallocate(chunk, sizeof(Chunk));
    }

   private:
    std::mutex mutex_;
    Chunk* first_ = nullptr;
  };

  struct Turn {
    Node* next = nullptr;
    Node* end = nullptr;
  };
  struct LeaveAtEnd {
    ~LeaveAtEnd() { leave_chunk(); }
  };

  [[gnu::noinline]] static void start_chunk() {
    static thread_local LeaveAtEnd at_end;
    Chunk* chunk = free_chunks.take();
    if (chunk == nullptr) chunk = new (Upstream::allocate(sizeof(Chunk))) Chunk;
    turn = {chunk->nodes, chunk->nodes + kNodesPerChunk};
  }

  static inline constinit thread_local Turn turn = {};
  static inline FreeChunks free_chunks;
};

}  // namespace tarn::bench::source_004
