// Of the library's own detail/thread_cache.h and bins.h, what public headers name: a cache that never has a
// block nor room for one, so that each call takes the slow door.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

inline constexpr std::size_t kTinyLimit = 8, kSmallLimit = 1024, kSteppedLimit = 16384, kGuardBytes = 0;
inline constexpr std::size_t kMediumLimit = std::size_t{256} << 10;
inline constexpr unsigned kTinyBin = 1;

enum class SizeClass : std::uint16_t { kNone = 0 };
constexpr unsigned index_of_class(SizeClass size_class) { return static_cast<unsigned>(size_class); }
constexpr SizeClass class_of_index(unsigned index) { return static_cast<SizeClass>(index); }
struct ClassOfStep {
  constexpr SizeClass operator[](std::size_t) const { return SizeClass::kNone; }
};
inline constexpr ClassOfStep class_of_step{};

enum class RecordPlace : std::size_t { kNone = 0 };
constexpr std::size_t number_of(RecordPlace place) { return static_cast<std::size_t>(place); }
struct Record {
  std::uint64_t words[2];
};

struct ThreadCache {};
inline thread_local ThreadCache* thread_cache = nullptr;
inline ThreadCache* load_cache(ThreadCache* const& pointer) { return pointer; }
inline ThreadCache* own_cache() { return nullptr; }
inline ThreadCache** address_of_own_cache() { return &thread_cache; }
template <typename Where>
void* pop(ThreadCache*, Where) {
  return nullptr;
}
inline bool push(ThreadCache*, RecordPlace, void*) { return false; }
inline RecordPlace record_of(const ThreadCache*, const void*) { return RecordPlace::kNone; }

}  // namespace TARN_NAMESPACE::detail

#include "tarn/detail/blocks.h"
