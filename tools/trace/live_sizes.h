// Which blocks a program had when it had most: what size classes are fitted to.
#pragma once
#include <cstdint>
#include <map>

#include "trace/trace_reader.h"

namespace tarn::trace {

/// How many blocks of each requested size are live when most bytes are. Blocks of more than the usual
/// alignment are left out: they have size classes of their own.
std::map<std::uint64_t, std::uint64_t> live_sizes_at_peak(const Trace& trace);

}  // namespace tarn::trace
