#pragma once
#include <string.h>

#include "../../include/tarn/stats.h"

extern "C" {
inline size_t tarn_stats(struct tarn_statistics* statistics, size_t bytes) noexcept {
  memset(statistics, 0, bytes);
  return 0;
}
inline size_t tarn_read_statistics(struct tarn_statistics* statistics, size_t bytes) noexcept {
  return tarn_stats(statistics, bytes);
}
}
