// As the library's own detail/api.h, elsewhere (docs/elsewhere.md): nothing is exported, and nothing is a hit.
#pragma once
#include "tarn/detail/c_api.h"
#include "tarn/detail/compiler.h"
#include "tarn/version.h"

#define TARN_ELSEWHERE 1
#define TARN_NAMESPACE tarn::inline elsewhere
#define TARN_API
#define TARN_INLINE inline
#define TARN_HIT inline
#define TARN_POINTER_OF_THREAD(scope, name) scope::name
#if defined(_WIN32)
#define TARN_HEADER_OF_IOVEC "tarn/detail/iovec.h"
#else
#define TARN_HEADER_OF_IOVEC <sys/uio.h>
#endif

namespace TARN_NAMESPACE::detail {

inline constexpr bool kIsHardened = false;
inline constexpr bool kHitsAreCalls = true;
inline constexpr bool kChecksFrees = false;  // each free looks its block up anyway

}  // namespace TARN_NAMESPACE::detail
