// The series of tarn::write_metrics, made of a look from outside, and the parts of the memory beside them.
#pragma once
#include <string>

#include "look/processes/top_view.h"

namespace tarn::tool {

/// Prometheus' text exposition format 0.0.4. Figures that cannot be known from outside have no series.
std::string metrics_of(const Look& look);

}  // namespace tarn::tool
