// As the library's own detail/record_seal.h; a seal has no secret.
#pragma once
#include <cstdint>
#include <cstring>

#include "tarn/detail/blocks.h"

namespace TARN_NAMESPACE::detail {

inline std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
inline std::uint64_t seal_of(const void* record, std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  return (((word_of(record) * 31 + a) * 31 + b) * 31 + c) | std::uint64_t{1} << 63;
}
inline bool begins_with_sealed_record(void* block) noexcept {
  std::uint64_t words[4];
  std::memcpy(words, block, sizeof words);
  return sizeof(void*) == sizeof *words && words[3] == seal_of(block, words[0], words[1], words[2]);
}
[[noreturn]] inline void stop_at_record(const char* what, const void* record) noexcept {
  stop(what, "a pool", record);
}
[[noreturn]] inline void stop_at_overwritten(const void* record) {
  stop_at_record("overwritten record of the library", record);
}

}  // namespace TARN_NAMESPACE::detail
