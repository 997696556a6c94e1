#pragma once
#include "../../include/tarn/options.h"

extern "C" {
inline int tarn_set_option(const char*, const char*) noexcept { return ENOENT; }
inline int tarn_option(const char*, char* text, size_t bytes) noexcept {
  if (bytes != 0) *text = '\0';
  return -1;
}
inline void tarn_for_each_option(void (*)(const struct tarn_option_state*, void*), void*) noexcept {}
}
