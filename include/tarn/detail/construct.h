// How pools make an object in a block: with arguments, or default-initialised.
#pragma once
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// In place of arguments: the object is default-initialised, as by std::make_unique_for_overwrite.
struct ForOverwrite {};

template <typename T, typename... Arguments>
inline constexpr bool kIsMadeWithoutThrow = std::is_nothrow_constructible_v<T, Arguments...>;
template <typename T>
inline constexpr bool kIsMadeWithoutThrow<T, ForOverwrite> = std::is_nothrow_default_constructible_v<T>;

template <typename T, typename... Arguments>
TARN_INLINE T* construct_at(void* block, Arguments&&... arguments) {
  return ::new (block) T(std::forward<Arguments>(arguments)...);
}
template <typename T>
TARN_INLINE T* construct_at(void* block, ForOverwrite) {
  return ::new (block) T;
}

}  // namespace TARN_NAMESPACE::detail
