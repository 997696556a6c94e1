// What the C functions of all pools share: options of any version, and records that know whether they live.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "os/fatal.h"
#include "page/memory/metadata.h"
#include "tarn/heap.h"
#include "tarn/pools.h"

namespace tarn::internal::c_api {

/// Copies the members that the program knows; the others are 0, their default.
/// \returns false, with errno EINVAL, when the program sets one that the library does not know.
template <typename Options>
bool read_options(Options& options, const Options* given, std::size_t bytes) {
  std::memset(static_cast<void*>(&options), 0, sizeof options);
  if (given == nullptr) return true;
  const std::size_t known = bytes < sizeof options ? bytes : sizeof options;
  std::memcpy(static_cast<void*>(&options), given, known);
  const auto* const start = reinterpret_cast<const char*>(given);
  for (std::size_t i = known; i < bytes; ++i)
    if (start[i] != 0) {
      errno = EINVAL;
      return false;
    }
  return true;
}

/// Copies as much of a struct as the program knows; what the library does not know becomes 0.
template <typename Use>
std::size_t write_use(const Use& use, Use* into, std::size_t bytes) {
  const std::size_t known = bytes < sizeof use ? bytes : sizeof use;
  std::memset(static_cast<void*>(into), 0, bytes);
  std::memcpy(static_cast<void*>(into), &use, known);
  return known;
}

/// 0 is no limit.
inline std::size_t limit_of(std::size_t value) { return value == 0 ? SIZE_MAX : value; }
inline std::size_t value_or(std::size_t value, std::size_t usual) { return value == 0 ? usual : value; }

inline std::nullptr_t fail(int error) {
  errno = error;
  return nullptr;
}

inline void* or_no_memory(void* block) { return block != nullptr ? block : fail(ENOMEM); }

/// A member of a record, not the first: freed metadata keeps what lies behind its first word until it is used
/// again.
class Life {
 public:
  Life() = default;
  /// Stops the process when the record's pool has ended before.
  void end(const void* pool) {
    if (mark_ != kLives) os::fatal("end of a pool that has ended", pool);
    // Volatile, since nobody reads it in the record's life.
    *const_cast<volatile std::size_t*>(&mark_) = 0;
  }

 private:
  static constexpr std::size_t kLives = 0x7461726e;

  std::size_t mark_ = kLives;
};

/// \returns nullptr, with errno ENOMEM, when memory is refused.
template <typename Record, typename... Arguments>
Record* make_record(Arguments&&... arguments) {
  auto* const record = metadata.make<Record>(std::forward<Arguments>(arguments)...);
  return record != nullptr ? record : fail(ENOMEM);
}

/// For what is asked of any heap.
const tarn::Heap& heap_of(const ::tarn_heap& heap);

}  // namespace tarn::internal::c_api
