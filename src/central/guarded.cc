// What is said of a misuse that the guards have caught.
#include "central/guarded.h"

#include "central/slabs/slab.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

void note_written_block(void* block) noexcept {
  os::misuse("write into a freed block, found when it was handed out again", block);
}

// A free block is zeros; so is the guard of one that the program has wiped beyond its end.
void note_bad_free(void* block) noexcept {
  BlockIndex index{};
  const Span& slab = *slab_of_block(block, &index);
  const std::size_t bytes = class_geometry[slab.size_class.load(std::memory_order_relaxed)].block_bytes;
  os::misuse(is_zero(block, bytes) ? "double free" : "write past the end of a block", block);
}

}  // namespace TARN_NAMESPACE::detail
