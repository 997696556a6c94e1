// A contestant is a pool under a name, with the groups of rows it can run. Each library's file registers its
// own, so that a library that is not installed is a file that is not built. A name may register several
// times.
//
// What the workloads ask of a block pool (`Pool<Bytes>`, Bytes being the largest request):
//   void* allocate(std::size_t bytes)           a block of at least that many bytes
//   void deallocate(void*, std::size_t bytes)   takes it back
//   static constexpr Sharing kSharing           whether several threads may use one pool
// Contiguous runs and arenas ask for calls of their own (contiguous.h, arenas.h).
#pragma once
#include <cstddef>
#include <initializer_list>

#include "session.h"

namespace tarn::bench {

enum class Sharing { kOneThread, kAnyThread };

struct Workload {
  const char* group;
  void (*run)(Session& session);
};

class Contestant {
 public:
  static constexpr std::size_t kMaxWorkloads = 12;

  /// Appends itself to the program's contestants. \pre a static object: the list keeps its address.
  Contestant(const char* name, std::initializer_list<Workload> workloads);
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const char* name() const { return name_; }
  const Contestant* next() const { return next_; }
  const Workload* begin() const { return workloads_; }
  const Workload* end() const { return workloads_ + count_; }

  static const Contestant* first();

 private:
  const char* name_;
  Workload workloads_[kMaxWorkloads] = {};
  std::size_t count_ = 0;
  Contestant* next_ = nullptr;
};

}  // namespace tarn::bench
