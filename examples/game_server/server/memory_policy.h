// Where the server's memory comes from: the one file that differs between `--memory new`, `pmr` and `pools`.
//
// A policy is a type with
//   Objects<T>   create(arguments...) and destroy(object): sessions, entities, events, items, nodes of send
//   queues
//   Packets      packets, 20 bytes to a little over kLargestPacket
//   Buffers      texts and the containers that live long; any size
//   Handlers     what asio keeps of an operation in flight
//   Scratch      what lives until begin_scratch(), which each room's tick starts with
// The last four are sources: allocate(bytes) and deallocate(block, bytes), which throw std::bad_alloc when
// memory is refused. release_unused() gives back what is free, as far as the policy can; the server asks when
// it is empty. The server is a template of the policy, so that each one's calls are inlined as far as they
// can be.
//
// NewMemory takes all of it from operator new, and so from whatever malloc the process has. PmrMemory is the
// standard library's best for one thread: an unsynchronized_pool_resource over new, and a monotonic buffer
// for the tick. PoolsMemory has a tarn pool for each shape.
//
// Threads: one, the server's.
#pragma once
#include <malloc.h>
#include <tarn/arena.h>
#include <tarn/buffer_pool.h>
#include <tarn/fixed_pool.h>
#include <tarn/memory_pool.h>
#include <tarn/object_pool.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace game {

/// Requests for memory that the server has made, of whichever policy.
inline constinit std::uint64_t request_count = 0;

inline constexpr std::size_t kScratchBytes = 60 << 10;  // with its header one page of the library

/// The allocator of a standard container, or of a handler, over one of a policy's sources.
template <typename T, typename Source>
class AllocatorOver {
 public:
  using value_type = T;

  explicit AllocatorOver(Source& source) noexcept : source_(&source) {}
  template <typename U>
  AllocatorOver(const AllocatorOver<U, Source>& other) noexcept : source_(other.source()) {}

  T* allocate(std::size_t count) {
    ++request_count;
    return static_cast<T*>(source_->allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { source_->deallocate(block, count * sizeof(T)); }

  Source* source() const noexcept { return source_; }
  template <typename U>
  bool operator==(const AllocatorOver<U, Source>& other) const noexcept {
    return source_ == other.source();
  }

 private:
  Source* source_;
};

template <typename T, typename Source>
using VectorOver = std::vector<T, AllocatorOver<T, Source>>;
template <typename T, typename Source>
using DequeOver = std::deque<T, AllocatorOver<T, Source>>;
template <typename Source>
using StringOver = std::basic_string<char, std::char_traits<char>, AllocatorOver<char, Source>>;

/// Counts an Objects' requests and what is live of them.
template <typename Pool, typename T>
class CountedObjects : private Pool {
 public:
  using Pool::Pool;
  CountedObjects(const CountedObjects&) = delete;
  CountedObjects& operator=(const CountedObjects&) = delete;

  template <typename... Arguments>
  T* create(Arguments&&... arguments) {
    T* const object = Pool::make(std::forward<Arguments>(arguments)...);
    ++request_count;
    ++live_count_;
    return object;
  }
  void destroy(T* object) noexcept {
    Pool::end(object);
    --live_count_;
  }
  std::size_t live_count() const { return live_count_; }

 private:
  std::size_t live_count_ = 0;
};

// -----------------------------------------------------------------------------------------------------------

class NewMemory {
 public:
  static constexpr const char* kName = "new";

  struct Source {
    void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    void deallocate(void* block, std::size_t bytes) noexcept { ::operator delete(block, bytes); }
  };
  using Packets = Source;
  using Buffers = Source;
  using Handlers = Source;
  using Scratch = Source;

  template <typename T>
  struct Pool {
    Pool(NewMemory&, const char*) {}
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
      return new T(std::forward<Arguments>(arguments)...);
    }
    void end(T* object) noexcept { delete object; }
  };
  template <typename T>
  using Objects = CountedObjects<Pool<T>, T>;

  Packets& packets() { return source_; }
  Buffers& buffers() { return source_; }
  Handlers& handlers() { return source_; }
  Scratch& scratch() { return source_; }
  void begin_scratch() {}
  /// Nothing where another malloc is preloaded that does not know the call.
  void release_unused() { malloc_trim(0); }

 private:
  Source source_;
};

// -----------------------------------------------------------------------------------------------------------

class PmrMemory {
 public:
  static constexpr const char* kName = "pmr";

  struct Source {
    std::pmr::memory_resource* resource;
    void* allocate(std::size_t bytes) { return resource->allocate(bytes, alignof(std::max_align_t)); }
    void deallocate(void* block, std::size_t bytes) noexcept {
      resource->deallocate(block, bytes, alignof(std::max_align_t));
    }
  };
  using Packets = Source;
  using Buffers = Source;
  using Handlers = Source;
  using Scratch = Source;

  template <typename T>
  struct Pool {
    Pool(PmrMemory& memory, const char*) : allocator_(&memory.pools_) {}
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
      return allocator_.template new_object<T>(std::forward<Arguments>(arguments)...);
    }
    void end(T* object) noexcept { allocator_.delete_object(object); }

   private:
    std::pmr::polymorphic_allocator<T> allocator_;
  };
  template <typename T>
  using Objects = CountedObjects<Pool<T>, T>;

  PmrMemory() : scratch_block_(kScratchBytes), tick_(scratch_block_.data(), scratch_block_.size()) {}

  Packets& packets() { return source_; }
  Buffers& buffers() { return source_; }
  Handlers& handlers() { return source_; }
  Scratch& scratch() { return scratch_; }
  void begin_scratch() { tick_.release(); }
  /// The resource keeps its blocks while any is live; what it gave back earlier lies in malloc.
  void release_unused() { malloc_trim(0); }

 private:
  std::pmr::unsynchronized_pool_resource pools_{std::pmr::new_delete_resource()};
  Source source_{&pools_};
  std::vector<std::byte> scratch_block_;
  std::pmr::monotonic_buffer_resource tick_;
  Source scratch_{&tick_};
};

// -----------------------------------------------------------------------------------------------------------

class PoolsMemory {
 public:
  static constexpr const char* kName = "pools";

  struct Buffers {
    void* allocate(std::size_t bytes) { return or_throw(tarn::allocate(bytes)); }
    void deallocate(void* block, std::size_t bytes) noexcept { tarn::deallocate(block, bytes); }
  };

  /// A size per doubling: few sizes, so that few chunks are partly empty. \why not the general pool: packets
  /// of all sizes would keep a slab of each of its forty classes. \why plain blocks, not shared buffers: the
  /// packets count their references themselves, as under the other policies.
  using Packets = tarn::BufferPool;

  /// One size holds every operation the server starts; a larger one of another asio version still has a
  /// place.
  class Handlers {
   public:
    void* allocate(std::size_t bytes) {
      return bytes <= kBlockBytes ? or_throw(blocks_.allocate()) : or_throw(tarn::allocate(bytes));
    }
    void deallocate(void* block, std::size_t bytes) noexcept {
      if (bytes <= kBlockBytes)
        blocks_.deallocate(block);
      else
        tarn::deallocate(block, bytes);
    }

    void release_unused() { blocks_.release_unused(); }

   private:
    static constexpr std::size_t kBlockBytes = 144;
    tarn::FixedPool blocks_{{.block_bytes = kBlockBytes, .name = "handlers"}};
  };

  class Scratch {
   public:
    void* allocate(std::size_t bytes) { return or_throw(arena_.allocate(bytes)); }
    void deallocate(void*, std::size_t) noexcept {}
    void begin() { arena_.begin_tick(); }

   private:
    tarn::TickArena arena_{kScratchBytes};
  };

  template <typename T>
  struct Pool {
    Pool(PoolsMemory&, const char* name) : pool_({.name = name}) {}
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
      return pool_.create(std::forward<Arguments>(arguments)...);
    }
    void end(T* object) noexcept { pool_.destroy(object); }

   private:
    tarn::ObjectPool<T> pool_;
  };
  template <typename T>
  using Objects = CountedObjects<Pool<T>, T>;

  Packets& packets() { return packets_; }
  Buffers& buffers() { return buffers_; }
  Handlers& handlers() { return handlers_; }
  Scratch& scratch() { return scratch_; }
  void begin_scratch() { scratch_.begin(); }
  void release_unused() {
    packets_.release_unused();
    handlers_.release_unused();
    tarn::trim();
  }

 private:
  static void* or_throw(void* block) {
    if (block == nullptr) [[unlikely]]
      throw std::bad_alloc();
    return block;
  }

  static constexpr tarn::BufferSize kPacketSizes[] = {{24},  {32},   {64},   {128}, {256},  // most are small
                                                      {512}, {1024}, {2048}, {4096}};
  Packets packets_{{.sizes = kPacketSizes,
                    .alignment = 8,
                    .chunk_bytes = 64 << 10,
                    .at_cap = tarn::AtCap::kThrow,
                    .name = "packets"}};
  Buffers buffers_;
  Handlers handlers_;
  Scratch scratch_;
};

}  // namespace game
