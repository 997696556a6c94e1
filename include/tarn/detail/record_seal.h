// Records of the library that must lie among a program's blocks end with a seal: a word that depends on
// where the record lies, on what it says, and on a secret of the process. Code that follows a pointer of such
// a record compares the seal first; a record that was overwritten stops the process with one line.
#pragma once
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// \returns the seal of a record with these three words; never 0. \cost two multiplications.
TARN_API std::uint64_t seal_of(const void* record, std::uint64_t a, std::uint64_t b,
                               std::uint64_t c) noexcept;

/// Whether a block begins with three words and their seal. Memory checkers let any block be asked about.
TARN_API bool begins_with_sealed_record(void* block) noexcept;

/// Stops the process: prints "tarn: `what`: 0x…".
[[noreturn]] TARN_API void stop_at_record(const char* what, const void* record) noexcept;
[[noreturn]] TARN_COLD TARN_NOINLINE TARN_LOCAL inline void stop_at_overwritten(const void* record) {
  stop_at_record("overwritten record of the library", record);
}

inline std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace TARN_NAMESPACE::detail
