#include "observer/records/bounds.h"

#include <unistd.h>

#include <algorithm>

namespace tarn::observer {
namespace {

std::uint64_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages) * page_bytes : UINT64_MAX;
}

}  // namespace

std::uint64_t Bounds::most_bytes() { return std::min(memory_of_machine() / 2, kMostBytes); }

Bounds::Bounds() : Bounds(most_bytes(), kMostSteps) {}

const char* Bounds::refusal() {
  return "the program's records are damaged or forged, or need more than half of this machine's memory: look "
         "at its core file on a larger machine";
}

void Bounds::refuse() { throw ObserveError(refusal()); }

}  // namespace tarn::observer
