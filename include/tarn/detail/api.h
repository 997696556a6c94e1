// How declarations are exported, and how a hit is inlined even without optimisation.
#pragma once
#include "tarn/detail/abi.h"
#include "tarn/detail/c_api.h"

#define TARN_API [[gnu::visibility(TARN_API_VISIBILITY)]]
#define TARN_INLINE [[gnu::always_inline]] inline
