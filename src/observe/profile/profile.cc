// The interface to the profile for C and C++.
#include "tarn/profile.h"

#include "base/options/option_table.h"
#include "general/options/setup.h"
#include "observe/profile/samples.h"
#include "thread/observation/exponential.h"

using namespace tarn::internal;

void tarn_profile_start(size_t interval) {
  set_up_once();
  set_option_number(Option::kProfile, static_cast<std::int64_t>(interval), "tarn_profile_start");
}

void tarn_profile_stop(void) { tarn_profile_start(0); }

size_t tarn_profile_interval(void) { return observation.interval(); }

size_t tarn_visit_samples(tarn_sample_visitor visit, void* context) {
  std::size_t visits = 0;
  samples.visit_copies([&](const Sample& sample) {
    const SampledStack* const stack = samples.stack(sample.stack);
    const tarn_sample told{
        reinterpret_cast<const void*>(sample.block),         sample.requested,
        blocks_of_sample(sample.requested, sample.interval), sample.pool,
        stack != nullptr ? stack->addresses : nullptr,       stack != nullptr ? stack->count : 0};
    visit(&told, context);
    ++visits;
  });
  return visits;
}
