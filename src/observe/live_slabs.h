// Pictures of what is live in the general pool: blocks of slabs, also of object pools with a class of their
// own, and large blocks.
//
// A block in a magazine or a depot has the bit of a live one. So a picture is taken while no slow call runs:
// under the mutexes of all heaps and owners, which also keep spare and ending slabs where they are, and under
// kGiveBack, so that no free block is out of its slab. The bits are copied, then what magazines and depots
// hold is taken out. Hits go on meanwhile: a block that a thread has all the time is in no magazine all the
// time.
//
// Large blocks are made and ended without these locks; each is read as it may be at no moment, and believed
// if the page map says the same before and after.
// Threads: any, with no lock held.
#pragma once
#include <cstddef>
#include <cstdint>

#include "general/pools/live_picture.h"
#include "general/pools/pool_registry.h"

namespace tarn::internal {

/// Where the next picture begins.
struct LivePlace {
  std::uint32_t region = 0;
  std::size_t page = 0;             // in the region
  const SlabOwner* only = nullptr;  // the owner of the slabs; nullptr: all slabs, and large blocks
};

/// The names of the pools that the runs of a picture belong to, at the moment of the picture.
class PoolNames {
 public:
  static constexpr std::uint16_t kNone = 0;  // of what is no pool's

  void clear() { count_ = 0; }
  /// \param pool nullptr: it has ended, a typed one. \pre at most one per run of a picture. \returns the
  /// name's number.
  std::uint16_t add(const PoolHeader* pool);
  /// \returns nullptr when the pool has ended. \pre the run is a pool's.
  const char* of(const LiveRun& run) const {
    return names_[run.name - 1].is_known ? names_[run.name - 1].text : nullptr;
  }
  const char* kind_of(const LiveRun& run) const { return names_[run.name - 1].kind; }

 private:
  struct Name {
    const char* kind;
    bool is_known;
    char text[PoolHeader::kNameBytes];
  };

  std::uint16_t count_ = 0;
  const PoolHeader* last_ = nullptr;  // that was added
  Name names_[LivePicture::kMostRuns];
};

/// Takes the picture that begins at a place, and moves the place behind it. \param names of the pools that
/// the picture has blocks of. \returns false behind the last slab; the picture is then empty.
bool take_next_picture(LivePlace& place, LivePicture& picture, PoolNames& names);

}  // namespace tarn::internal
