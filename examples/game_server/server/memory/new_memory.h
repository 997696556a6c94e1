// All memory from operator new, and so from whatever malloc the process has.
#pragma once
#include <malloc.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "counted_bytes.h"
#include "made_objects.h"
#include "slot_map.h"
#include "sources.h"

namespace game {

class NewMemory {
 public:
  static constexpr const char* kName = "new";

  struct Source {
    void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    void deallocate(void* block, std::size_t bytes) noexcept { ::operator delete(block, bytes); }
  };

  using Buffer = CountedBytes;
  using Chain = CountedBytesQueue;
  template <typename T>
  using Vector = std::vector<T>;

  Buffer make_buffer(std::size_t bytes) {
    ++request_count;
    return {std::make_shared_for_overwrite<char[]>(bytes), bytes};
  }
  /// Does nothing where another malloc is preloaded that does not know the call.
  void give_back() { malloc_trim(0); }

  struct Scratch : Source {
    explicit Scratch(const char*) {}
    void begin() {}
  };

  class Thread {
   public:
    using Texts = Source;

    Thread(NewMemory&, const char*) {}
    void give_back() {}
    Texts& texts() { return source_; }
    template <typename Function>
    Function bind(Function function) {
      return function;
    }

   private:
    Source source_;
  };

  template <typename T>
  struct Maker {
    Maker(Thread&, const char*) {}
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
      ++request_count;
      return new T(std::forward<Arguments>(arguments)...);
    }
    void end(T* object) noexcept { delete object; }
  };
  template <typename T>
  using Objects = MadeObjects<T, Maker<T>>;
  template <typename T>
  using Ref = SlotRef<T>;
  template <typename T>
  using Handles = SlotMap<T, Maker<T>>;

  /// Operator new knows no budgets, so the region counts what it was asked for.
  class Region {
   public:
    Region(NewMemory&, const char*, std::size_t budget) : left_(budget) {}

    void* allocate(std::size_t bytes) {
      if (bytes > left_) throw std::bad_alloc();
      left_ -= bytes;
      return ::operator new(bytes);
    }
    void deallocate(void* block, std::size_t bytes) noexcept {
      left_ += bytes;
      ::operator delete(block, bytes);
    }
    template <typename T>
    void end(T* root) {
      root->~T();
      deallocate(root, sizeof(T));
    }

   private:
    std::size_t left_;
  };
};

}  // namespace game
