// Pictures of what lives in the general pool: blocks of slabs, also of object pools with a class of their
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

#include "general/live_picture.h"
#include "general/pool_registry.h"

namespace tarn::internal {

/// Where the next picture begins.
struct LivePlace {
  std::uint32_t region = 0;
  std::size_t page = 0;  // in the region
};

/// The names of object pools with classes of their own, at the moment of a picture.
class PrivateClassNames {
 public:
  static constexpr const char* kNone = nullptr;

  /// \returns nullptr when the pool of the class has ended.
  const char* of(detail::SizeClass size_class) const {
    const Name& name = names_[index(size_class)];
    return name.is_known ? name.text : kNone;
  }
  void set(detail::SizeClass size_class, const PoolHeader* pool);

 private:
  struct Name {
    bool is_known;
    char text[PoolHeader::kNameBytes];
  };
  static unsigned index(detail::SizeClass size_class);

  Name names_[kClassCount - kBinCount];
};

/// Takes the picture that begins at a place, and moves the place behind it. \param names those of classes
/// that the picture has blocks of. \returns false behind the last slab; the picture is then empty.
bool take_next_picture(LivePlace& place, LivePicture& picture, PrivateClassNames& names);

}  // namespace tarn::internal
