// A contestant is a way to allocate, under a name, with the workloads it can run. Each library's file
// registers its own, so that a library that is not installed is a file that is not built. A name may register
// several times: its workloads add up.
//
// What workloads on any malloc ask of an `Api` (sources 000, 001, 002 and the gaps between them):
//   static void* allocate(std::size_t bytes)          a block of at least that many bytes
//   static void deallocate(void*, std::size_t bytes)  takes it back
//   static void* reallocate(void*, std::size_t bytes) where the workload grows blocks
//   static void* memory_of(void* block)               where the bytes are: the block itself, or what it owns
// What workloads on pools ask of a `Pool<Bytes>`, Bytes being the largest request (sources 003, 004):
//   void* allocate(std::size_t bytes), void deallocate(void*, std::size_t bytes)
//   static constexpr Sharing kSharing                 whether several threads may use one pool
// Runs of neighbours and arenas ask for calls of their own (contiguous.h, arenas.h).
#pragma once
#include <cstddef>
#include <initializer_list>

#include "session.h"

namespace tarn::bench {

/// Whether several threads may call it at once. Tables compare pools with pools of the same kind.
enum class Sharing { kOneThread, kAnyThread };

enum class Kind {
  kMalloc,      // whatever malloc and operator new are: the program is preloaded
  kTarnInline,  // tarn's calls, inlined
  kInline,      // another malloc's, linked into the program under its own names
  kTarnPool,
  kPool,  // of another library
};

using Workload = void (*)(Session& session);

class Contestant {
 public:
  static constexpr std::size_t kMaxWorkloads = 32;

  /// Appends itself to the program's contestants. `library` says what it is and which version.
  /// \pre a static object: the list keeps its address
  Contestant(const char* name, Kind kind, Sharing sharing, const char* library,
             std::initializer_list<Workload> workloads);
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const char* name() const { return name_; }
  Kind kind() const { return kind_; }
  Sharing sharing() const { return sharing_; }
  const char* library() const { return library_; }
  const Contestant* next() const { return next_; }
  const Workload* begin() const { return workloads_; }
  const Workload* end() const { return workloads_ + count_; }

  static const Contestant* first();

 private:
  const char* name_;
  Kind kind_;
  Sharing sharing_;
  const char* library_;
  Workload workloads_[kMaxWorkloads] = {};
  std::size_t count_ = 0;
  Contestant* next_ = nullptr;
};

}  // namespace tarn::bench
