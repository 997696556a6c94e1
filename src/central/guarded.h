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

/// \returns the block, which may be nullptr; nullptr where it was written while it was free.
inline void* begin_guarded(SizeClass size_class, void* block) {
  if (block == nullptr || !has_guards(size_class)) return block;
  return detail::begin_guarded(block, class_geometry[size_class].block_bytes, guard_keys()) ? block : nullptr;
}

/// \returns whether the block is live, and was not written past its end. \pre the address is a block's.
inline bool is_whole(SizeClass size_class, void* block) {
  return !has_guards(size_class) ||
         detail::has_guard(block, class_geometry[size_class].block_bytes, guard_keys());
}

/// \pre the address is a block's. \returns false where it is none that may be freed.
inline bool end_guarded(SizeClass size_class, void* block) {
  return !has_guards(size_class) ||
         detail::end_guarded(block, class_geometry[size_class].block_bytes, guard_keys());
}

}  // namespace tarn::internal
