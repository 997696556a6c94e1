#include "observer/dumps/dump_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "observer/process/maps_parser.h"

namespace tarn::observer {

InputFile open_dump_file(const std::string& path) {
  errno = 0;
  InputFile file = open_regular_file(path);
  if (!file.is_open())
    throw ObserveError(
        fmt::format("cannot read '{}': {}", path, errno != 0 ? std::strerror(errno) : "it is no plain file"));
  return file;
}

DumpMemory::DumpMemory(std::vector<DumpRange> ranges) : ranges_(std::move(ranges)) {
  sort_and_separate(ranges_);
}

std::size_t DumpMemory::read(const InputFile& file, Address address, void* into, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const DumpRange* const range = find_range(ranges_, address + done);
    if (range == nullptr) break;
    const std::uint64_t inside = address + done - range->start;
    const std::size_t wanted = std::min<std::uint64_t>(bytes - done, range->end - range->start - inside);
    const std::size_t part = file.read(range->offset + inside, static_cast<char*>(into) + done, wanted);
    done += part;
    if (part < wanted) break;
  }
  return done;
}

bool DumpMemory::covers(Address address) const { return find_range(ranges_, address) != nullptr; }

}  // namespace tarn::observer
