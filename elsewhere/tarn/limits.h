#pragma once
#include "../../include/tarn/limits.h"

extern "C" {
inline void tarn_set_memory_limits(struct tarn_memory_limits) noexcept {}
inline struct tarn_memory_limits tarn_read_memory_limits() noexcept { return {}; }
inline void tarn_set_limit_callback(tarn_limit_callback, void*) noexcept {}
inline size_t tarn_held_bytes() noexcept { return 0; }
}
