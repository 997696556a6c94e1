// Which pages of an observed program hold something: in memory or in swap. What was never written has no
// pointers, and to read it would make the kernel put pages there.
#pragma once
#include <optional>

#include "residency.h"
#include "source.h"

namespace tarn::observer {

struct WrittenPages {
  Residency pages;                 // its figures of the whole process are 0
  std::uint64_t unread_bytes = 0;  // written somewhere in mappings too large to be walked
};

/// \returns nothing where it is not known: of a core file, or where the kernel does not tell.
/// \cost that of what is there, by the kernel's scan. Before Linux 6.7 an entry is read for each page of the
/// mappings of up to 1 TiB that have any
std::optional<WrittenPages> read_written_pages(const Source& source);

}  // namespace tarn::observer
