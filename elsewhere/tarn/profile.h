#pragma once
#include "../../include/tarn/profile.h"

extern "C" {
inline void tarn_profile_start(size_t) {}
inline void tarn_profile_stop() {}
inline size_t tarn_profile_interval() { return 0; }
inline size_t tarn_visit_samples(tarn_sample_visitor, void*) { return 0; }
}
