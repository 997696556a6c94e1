// Memory from tarn: a pool for each shape that the server's memory has.
//
//   packets                 a BufferPool and its SharedBuffers, which cross threads and lie in many queues
//   sessions, entities      a HandlePool each: a message may come after its session has ended
//   players                 an ObjectPool
//   a room                  a Heap with a hard limit, which ends as a whole: no destructor is called
//   a tick's own lists      a TickArena
//   asio's operations       a FixedPool for each thread that runs an io_context
//   all other text          the general pool
#pragma once
#include <malloc.h>
#include <tarn/arena.h>
#include <tarn/asio_allocator.h>
#include <tarn/buffer_chain.h>
#include <tarn/buffer_pool.h>
#include <tarn/containers.h>
#include <tarn/fixed_pool.h>
#include <tarn/handle_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>
#include <tarn/object_pool.h>

#include <cstddef>
#include <new>
#include <utility>

#include "sources.h"

namespace game {

class PoolsMemory {
 public:
  static constexpr const char* kName = "pools";

  struct Texts {
    void* allocate(std::size_t bytes) { return or_throw(tarn::allocate(bytes)); }
    void deallocate(void* block, std::size_t bytes) noexcept { tarn::deallocate(block, bytes); }
  };

  using Buffer = tarn::SharedBuffer;
  using Chain = tarn::BufferChain;
  template <typename T>
  using Vector = tarn::vector<T>;

  Buffer make_buffer(std::size_t bytes) {
    ++request_count;
    return packets_.allocate_shared(bytes);
  }
  void give_back() {
    packets_.release_unused();
    tarn::trim();
    malloc_trim(0);  // what asio itself has
  }

  class Scratch {
   public:
    explicit Scratch(const char* name) : arena_(kScratchBytes, name) {}
    void* allocate(std::size_t bytes) { return or_throw(arena_.allocate(bytes)); }
    void deallocate(void*, std::size_t) noexcept {}
    void begin() { arena_.begin_tick(); }

   private:
    tarn::TickArena arena_;
  };

  class Thread {
   public:
    using Texts = PoolsMemory::Texts;

    Thread(PoolsMemory&, const char*) {}
    /// Free blocks cached by this thread, which no other can reach.
    void give_back() {
      operations_.release_unused();
      tarn::trim();
    }
    Texts& texts() { return texts_; }
    template <typename Function>
    auto bind(Function function) {
      return tarn::with_allocator(operations_, std::move(function));
    }

   private:
    Texts texts_;
    tarn::FixedPool operations_{{.name = "asio operations", .block_bytes = 128}};
  };

  template <typename T>
  class Objects {
   public:
    Objects(Thread&, const char* name) : pool_({.name = name}) {}
    template <typename... Arguments>
    T* create(Arguments&&... arguments) {
      ++request_count;
      return pool_.create(std::forward<Arguments>(arguments)...);
    }
    void destroy(T* object) noexcept { pool_.destroy(object); }

   private:
    tarn::ObjectPool<T> pool_;
  };

  template <typename T>
  using Ref = tarn::Handle<T>;
  template <typename T>
  class Handles {
   public:
    Handles(Thread&, const char* name) : pool_({.name = name, .at_end = tarn::AtPoolEnd::kDestroy}) {}
    template <typename... Arguments>
    Ref<T> create(Arguments&&... arguments) {
      ++request_count;
      return pool_.create(std::forward<Arguments>(arguments)...);
    }
    T* get(Ref<T> ref) const { return pool_.get(ref); }
    void destroy(Ref<T> ref) { pool_.destroy(ref); }
    template <typename Visit>
    void for_each_live(Visit&& visit) {
      pool_.for_each_live(std::forward<Visit>(visit));
    }
    std::size_t live_count() const { return pool_.live_count(); }

   private:
    tarn::HandlePool<T> pool_;
  };

  class Region {
   public:
    Region(PoolsMemory&, const char* name, std::size_t budget)
        : heap_({.name = name, .hard_limit = budget}) {}
    void* allocate(std::size_t bytes) { return or_throw(heap_.allocate(bytes)); }
    void deallocate(void* block, std::size_t bytes) noexcept { heap_.deallocate(block, bytes); }
    /// The heap's end frees everything at once.
    template <typename T>
    void end(T*) {}

   private:
    tarn::Heap heap_;
  };

 private:
  static void* or_throw(void* block) {
    if (block == nullptr) [[unlikely]]
      throw std::bad_alloc();
    return block;
  }

  // Most packets are small: an answer has 8 to 24 bytes.
  static constexpr tarn::BufferSize kPacketSizes[] = {
      {16}, {24}, {32}, {64}, {128}, {256}, {512}, {1024}, {2048}, {4096}, {6144}, {8192}, {12288}, {16384}};
  tarn::BufferPool packets_{{.name = "packets",
                             .sizes = kPacketSizes,
                             .alignment = 8,
                             .chunk_bytes = 64 << 10,
                             .at_cap = tarn::AtCap::kThrow}};
};

}  // namespace game
