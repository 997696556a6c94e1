// What the hardened library's hits say of a misuse that they come across.
#include "central/live_blocks.h"
#include "os/fatal.h"

namespace TARN_NAMESPACE::detail {

void note_written_block(void* block) noexcept {
  internal::os::misuse("write into a freed block, found when it was handed out again", block);
}

void note_bad_free(void* block) noexcept { internal::note_bad_free(block); }

}  // namespace TARN_NAMESPACE::detail
