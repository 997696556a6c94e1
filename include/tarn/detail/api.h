// How declarations are exported, and how a hit is inlined even without optimisation.
#pragma once
#include "tarn/detail/abi.h"

#define TARN_API [[gnu::visibility("default")]]
#define TARN_INLINE [[gnu::always_inline]] inline
