// Which blocks are live, told where blocks come and go without a record: by their guards in the hardened
// library, in the plain one by the live bytes of their class.
// Threads: any; the block is the caller's.
#pragma once
#include "central/classes/size_class.h"
#include "os/process/process.h"
#include "page/spans/live_map.h"
#include "tarn/detail/hardening.h"

namespace tarn::internal {

inline detail::GuardKeys guard_keys() {
  return {os::process_secret(os::kFirstSecretOfGuards), os::process_secret(os::kFirstSecretOfGuards + 1)};
}

/// Whether blocks of a class have a guard: those of pools have none, and are looked up at each free.
inline bool has_guards(SizeClass size_class) { return detail::kIsHardened && !is_private_class(size_class); }

/// Says what is wrong with a free of what is no live block, or one written past its end; stops the process
/// unless the option at_misuse lets it go on.
[[gnu::cold]] void note_bad_free(void* block);

/// \returns the block, which may be nullptr; nullptr where it was written while it was free.
inline void* begin_live(SizeClass size_class, void* block) {
  if (block == nullptr) return block;
  if (!has_guards(size_class)) return detail::begin_live(live_word(size_class), block), block;
  return detail::begin_guarded(block, class_geometry[size_class].block_bytes, guard_keys()) ? block : nullptr;
}

/// \returns false where no live block begins at the address, or one that was written past its end. \pre the
/// address is a block's where blocks have guards.
inline bool is_live(SizeClass size_class, void* block) {
  if (!has_guards(size_class)) return detail::is_live(live_word(size_class), block);
  return detail::has_guard(block, class_geometry[size_class].block_bytes, guard_keys());
}

/// Call when a block comes back; says what is wrong with one that may not. \pre as is_live(). \returns
/// whether it may.
inline bool end_live(SizeClass size_class, void* block) {
  if (has_guards(size_class))
    return detail::end_guarded(block, class_geometry[size_class].block_bytes, guard_keys());
  if (detail::end_live(live_word(size_class), block)) return true;
  note_bad_free(block);
  return false;
}

/// The same of blocks side by side.
void begin_live_run(SizeClass size_class, void* blocks, std::size_t count, std::size_t stride);
bool end_live_run(SizeClass size_class, void* blocks, std::size_t count, std::size_t stride);

}  // namespace tarn::internal
