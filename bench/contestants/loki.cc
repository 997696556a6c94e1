// Loki: SmallObjAllocator as it is, and SmallValueObject's operator new behind a lock for its class.
//
// Loki's chunks have at most 255 blocks; they are given that many, so that it searches as few chunks as it
// can.
#define LOKI_CLASS_LEVEL_THREADING
#include <loki/SmallObj.h>

#include "all_workloads.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kBlocksPerChunk = 255;
constexpr std::size_t kAlignment = 8;

template <std::size_t Bytes>
constexpr std::size_t kLargest = Bytes < kAlignment ? kAlignment : Bytes;

template <std::size_t Bytes>
class SmallObjAllocator : Loki::SmallObjAllocator {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  SmallObjAllocator()
      : Loki::SmallObjAllocator(kBlocksPerChunk * kLargest<Bytes>, kLargest<Bytes>, kAlignment) {}
  void* allocate(std::size_t bytes) { return Allocate(bytes, true); }
  void deallocate(void* block, std::size_t bytes) { Deallocate(block, bytes); }
};

template <std::size_t Bytes>
class LockedSmallObject {
 public:
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return Object::operator new(bytes); }
  void deallocate(void* block, std::size_t bytes) { Object::operator delete(block, bytes); }

 private:
  struct Object : Loki::SmallValueObject<Loki::ClassLevelLockable, kBlocksPerChunk * kLargest<Bytes>,
                                         kLargest<Bytes>, kAlignment> {};
};

constexpr const char* kLibrary = "Loki " TARN_LOKI_VERSION;

const UnsharedContestant<SmallObjAllocator> small_obj_allocator("loki", Kind::kPool, kLibrary);
const SharedContestant<LockedSmallObject> locked_small_object("loki-locked", Kind::kPool, kLibrary);

}  // namespace
}  // namespace tarn::bench
