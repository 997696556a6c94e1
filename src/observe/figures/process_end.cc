// Writes statistics at the end of the process, if asked for: after the program's own exit handlers, so that
// their calls are counted.
#include "observe/figures/stats.h"

namespace {

[[gnu::destructor(101)]] void at_process_end() { tarn::internal::write_stats_file(); }

}  // namespace
