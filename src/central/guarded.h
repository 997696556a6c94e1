// Guards of blocks that come and go without a record, in the hardened library; in the plain one nothing.
// Threads: any; the block is the caller's.
#pragma once
#include "central/classes/size_class.h"
#include "os/process/process.h"
#include "tarn/detail/hardening.h"

namespace tarn::internal {

inline detail::GuardKeys guard_keys() {
  return {os::process_secret(os::kFirstSecretOfGuards), os::process_secret(os::kFirstSecretOfGuards + 1)};
}

/// Whether blocks of a class have a guard: those of pools have none, and are looked up at each free.
inline bool has_guards(SizeClass size_class) { return detail::kIsHardened && !is_private_class(size_class); }

/// \returns the block, which may be nullptr.
inline void* begin_guarded(SizeClass size_class, void* block) {
  if (block != nullptr && has_guards(size_class))
    detail::begin_guarded(block, class_geometry[size_class].block_bytes, guard_keys());
  return block;
}

/// Tells where a block is not live, or was written past its end. \pre the address is a block's.
inline void check_guarded(SizeClass size_class, void* block) {
  if (has_guards(size_class) &&
      !detail::has_guard(block, class_geometry[size_class].block_bytes, guard_keys()))
    detail::note_bad_free(block);
}

/// \pre the address is a block's. \returns false where it is none that may be freed.
inline bool end_guarded(SizeClass size_class, void* block) {
  return !has_guards(size_class) ||
         detail::end_guarded(block, class_geometry[size_class].block_bytes, guard_keys());
}

}  // namespace tarn::internal
