// As the library's own detail/abi.h, elsewhere (docs/elsewhere.md): nothing is exported, and nothing is a hit.
#pragma once
#include "tarn/detail/c_api.h"
#include "tarn/version.h"

#define TARN_ELSEWHERE 1
#define TARN_NAMESPACE tarn::inline elsewhere
#define TARN_API
#define TARN_INLINE inline
#define TARN_HIT inline
#define TARN_POINTER_OF_THREAD(scope, name) scope::name
