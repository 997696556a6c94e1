#include "pool/freed_runs.h"

#include <algorithm>
#include <utility>

#include "page/metadata.h"

namespace tarn::internal {

void FreedRuns::forget(Bin& bin) {
  bin.top = bin.notes;
  bin.notes[0].blocks = nullptr;  // the place of a run that is no more
}

void FreedRuns::note(const RunBits& run, std::size_t length, void* blocks) {
  Bin*& bin = bins_[length];
  if (bin == nullptr) {
    bin = static_cast<Bin*>(metadata.allocate(sizeof(Bin)));
    if (bin == nullptr) return;
    forget(*bin);
  }
  if (bin->top == bin->notes + kNotes) bin->top = std::copy(bin->notes + kNotes / 2, bin->top, bin->notes);
  push(*bin, run, blocks);
}

const FreedRuns::Note* FreedRuns::place_of(std::size_t length) const {
  const Bin* const bin = bins_[length];
  return bin != nullptr && bin->notes[0].blocks != nullptr ? bin->notes : nullptr;
}

void FreedRuns::forget() {
  for (Bin* const bin : bins_)
    if (bin != nullptr) forget(*bin);
}

void FreedRuns::end() {
  for (Bin*& bin : bins_)
    if (bin != nullptr) metadata.free(std::exchange(bin, nullptr), sizeof(Bin));
}

}  // namespace tarn::internal
