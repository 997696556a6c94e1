// Written pages, from /proc/PID/pagemap (Linux: Documentation/admin-guide/mm/pagemap.rst).
#include "written_pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "input_file.h"
#include "pagemap.h"

namespace tarn::observer {
namespace {

constexpr std::uint64_t kIsPresent = std::uint64_t{1} << 63, kIsSwapped = std::uint64_t{1} << 62;

/// \returns false where the kernel does not tell.
bool add_written(const InputFile& pagemap, const Mapping& mapping, ResidentPages& pages) {
  constexpr std::uint64_t kEntriesAtOnce = 1 << 16;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::uint64_t> entries;
  for (Address at = mapping.start; at < mapping.end;) {
    entries.resize(std::min(kEntriesAtOnce, (mapping.end - at) / page_bytes));
    entries.resize(pagemap.read(at / page_bytes * sizeof entries[0], entries.data(),
                                entries.size() * sizeof entries[0]) /
                   sizeof entries[0]);
    if (entries.empty()) return false;
    for (const std::uint64_t entry : entries) {
      if ((entry & (kIsPresent | kIsSwapped)) != 0) pages.add(at, at + page_bytes);
      at += page_bytes;
    }
  }
  return true;
}

bool is_of_kernel(const Mapping& mapping) { return mapping.path.starts_with("[v"); }  // [vvar], [vsyscall]

}  // namespace

std::optional<Residency> read_written_pages(const Source& source) {
  if (source.kind() != SourceKind::kProcess && source.kind() != SourceKind::kOwn) return std::nullopt;
  const InputFile pagemap(fmt::format("/proc/{}/pagemap", source.pid()));
  if (!pagemap.is_open()) return std::nullopt;
  ResidentPages pages;
  for (const Mapping& mapping : source.mappings())
    if ((mapping.is_readable || mapping.is_writable) && !is_of_kernel(mapping) &&
        !add_written(pagemap, mapping, pages))
      return std::nullopt;
  return Residency(std::move(pages.runs), 0, 0);
}

}  // namespace tarn::observer
