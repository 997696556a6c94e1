// How a declaration says that it is exported, and how a hit is inlined also where nothing is optimised.
#pragma once
#include "tarn/detail/abi.h"

#define TARN_API [[gnu::visibility("default")]]
#define TARN_INLINE [[gnu::always_inline]] inline
