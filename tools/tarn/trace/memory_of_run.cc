#include "trace/memory_of_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "observer/attached_process.h"
#include "observer/kernel_text.h"
#include "observer/residency.h"
#include "observer/roots.h"
#include "observer/snapshot.h"

namespace tarn::tool {
namespace {

std::uint64_t status_bytes(const observer::Source& source, std::string_view name) {
  const std::string text = observer::read_kernel_text(observer::kernel_file(source, "status")).value_or("");
  const std::size_t at = text.find(fmt::format("\n{}:", name));
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + name.size() + 2, nullptr, 10) * 1024;
}

}  // namespace

void PeakOfAnonymous::look() { peak_bytes_ = std::max(peak_bytes_, status_bytes(source_, "RssAnon")); }

std::uint64_t peak_rss_bytes(const observer::Source& source) { return status_bytes(source, "VmHWM"); }

std::uint64_t other_anonymous_bytes(const observer::Source& source) {
  const std::uint64_t all = status_bytes(source, "RssAnon");
  const std::optional<observer::Residency> residency = observer::read_residency(source);
  if (!residency) return 0;
  std::uint64_t of_allocator = 0;
  for (const observer::AddressRange& range : observer::heap_ranges(observer::read_snapshot(source)))
    of_allocator += residency->bytes_in(range.start, range.end);
  return all > of_allocator ? all - of_allocator : 0;
}

}  // namespace tarn::tool
