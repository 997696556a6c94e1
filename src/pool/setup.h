// Reads the options and hands them to the tiers below, before the first block.
#pragma once

namespace tarn::internal {

/// \cost a load once it is done. Threads: any.
void set_up_once();

}  // namespace tarn::internal
