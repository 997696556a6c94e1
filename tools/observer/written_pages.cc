// Written pages, from /proc/PID/pagemap (Linux: Documentation/admin-guide/mm/pagemap.rst).
#include "written_pages.h"

#include <vector>

#include "attached_process.h"
#include "kernel_text.h"
#include "maps_parser.h"
#include "pagemap.h"

namespace tarn::observer {
namespace {

bool is_of_kernel(const Mapping& mapping) { return mapping.path.starts_with("[v"); }  // [vvar], [vsyscall]

}  // namespace

std::optional<WrittenPages> read_written_pages(const Source& source) {
  const InputFile pagemap = kernel_file(source, "pagemap");
  if (!pagemap.is_open()) return std::nullopt;
  if (auto pages = scan_written(pagemap, source.mappings()); pages)
    return WrittenPages{Residency(std::move(pages->runs), 0, 0), 0};
  std::vector<MappingUse> uses = parse_smaps(read_kernel_text(kernel_file(source, "smaps")).value_or(""));
  std::erase_if(uses, [](const MappingUse& use) { return is_of_kernel(use.mapping); });
  if (uses.empty()) return std::nullopt;
  std::uint64_t unread_bytes = 0;
  ResidentPages pages = walk_written(pagemap, uses, unread_bytes);
  return WrittenPages{Residency(std::move(pages.runs), 0, 0), unread_bytes};
}

}  // namespace tarn::observer
