// At the end of the process: statistics, where they are asked for. After the program's own exit handlers, so
// that they are counted.
#include "observe/stats.h"

namespace {

[[gnu::destructor(101)]] void at_process_end() { tarn::internal::write_stats_file(); }

}  // namespace
