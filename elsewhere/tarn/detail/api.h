// As the library's own detail/api.h, elsewhere (docs/elsewhere.md).
#pragma once
#include "tarn/detail/compiler.h"

namespace TARN_NAMESPACE::detail {

inline constexpr bool kIsHardened = false;
inline constexpr bool kHitsAreCalls = true;
inline constexpr bool kChecksFrees = false;  // each free looks its block up anyway

}  // namespace TARN_NAMESPACE::detail
