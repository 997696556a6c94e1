// Resident memory of this process, as the kernel tells it.
#pragma once

namespace tarn::bench {

/// In KiB; -1 where the kernel does not tell.
struct Resident {
  long peak_kib = -1;  // since the last reset
  long now_kib = -1;
};

Resident resident_memory();
/// From here on the peak counts anew.
void reset_peak_resident();

}  // namespace tarn::bench
