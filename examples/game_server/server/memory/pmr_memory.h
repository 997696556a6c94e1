// Memory from the standard library's own pools: an unsynchronized_pool_resource for each thread and each
// room, a synchronized one for buffers, a monotonic buffer for the tick.
#pragma once
#include <malloc.h>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

#include "counted_bytes.h"
#include "made_objects.h"
#include "slot_map.h"
#include "sources.h"

namespace game {

class PmrMemory {
 public:
  static constexpr const char* kName = "pmr";

  struct Source {
    std::pmr::memory_resource* resource = nullptr;
    void* allocate(std::size_t bytes) { return resource->allocate(bytes, alignof(std::max_align_t)); }
    void deallocate(void* block, std::size_t bytes) noexcept {
      resource->deallocate(block, bytes, alignof(std::max_align_t));
    }
  };

  using Buffer = CountedBytes;
  using Chain = CountedBytesQueue;
  template <typename T>
  using Vector = std::vector<T>;

  Buffer make_buffer(std::size_t bytes) {
    ++request_count;
    return {
        std::allocate_shared_for_overwrite<char[]>(std::pmr::polymorphic_allocator<char>(&shared_), bytes),
        bytes};
  }
  /// The resources keep their blocks while any is live; what they gave back earlier lies in malloc.
  void give_back() { malloc_trim(0); }

  class Scratch : public Source {
   public:
    explicit Scratch(const char*) : block_(kScratchBytes), tick_(block_.data(), block_.size()) {
      resource = &tick_;
    }
    void begin() { tick_.release(); }

   private:
    std::vector<std::byte> block_;
    std::pmr::monotonic_buffer_resource tick_;
  };

  class Thread {
   public:
    using Texts = Source;

    Thread(PmrMemory&, const char*) {}
    void give_back() {}
    Texts& texts() { return texts_; }
    template <typename Function>
    Function bind(Function function) {
      return function;
    }

   private:
    std::pmr::unsynchronized_pool_resource pools_;
    Source texts_{&pools_};
  };

  template <typename T>
  class Maker {
   public:
    Maker(Thread& thread, const char*) : allocator_(thread.texts().resource) {}
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
      ++request_count;
      return allocator_.template new_object<T>(std::forward<Arguments>(arguments)...);
    }
    void end(T* object) noexcept { allocator_.delete_object(object); }

   private:
    std::pmr::polymorphic_allocator<T> allocator_;
  };
  template <typename T>
  using Objects = MadeObjects<T, Maker<T>>;
  template <typename T>
  using Ref = SlotRef<T>;
  template <typename T>
  using Handles = SlotMap<T, Maker<T>>;

  class Region {
   public:
    Region(PmrMemory&, const char*, std::size_t budget) : upstream_(budget), pools_(&upstream_) {}

    void* allocate(std::size_t bytes) { return pools_.allocate(bytes, alignof(std::max_align_t)); }
    void deallocate(void* block, std::size_t bytes) noexcept {
      pools_.deallocate(block, bytes, alignof(std::max_align_t));
    }
    /// The resource's end frees everything at once.
    template <typename T>
    void end(T*) {}

   private:
    /// Operator new with a budget.
    class Upstream : public std::pmr::memory_resource {
     public:
      explicit Upstream(std::size_t budget) : left_(budget) {}

     private:
      void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > left_) throw std::bad_alloc();
        left_ -= bytes;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
      }
      void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        left_ += bytes;
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
      }
      bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
      }
      std::size_t left_;
    };

    Upstream upstream_;
    std::pmr::unsynchronized_pool_resource pools_;
  };

 private:
  std::pmr::synchronized_pool_resource shared_;
};

}  // namespace game
