#include "writable_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tarn::observer {

WritableMemory::WritableMemory(int pid)
    : pid_(pid), memory_(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC)) {
  if (memory_ < 0)
    throw ObserveError(
        fmt::format("the memory of process {} may not be written ({}): the same rights as "
                    "for a debugger are needed",
                    pid, std::strerror(errno)));
}

WritableMemory::~WritableMemory() { close(memory_); }

void WritableMemory::write(Address address, const void* bytes, std::size_t count) const {
  if (pwrite(memory_, bytes, count, static_cast<off_t>(address)) == static_cast<ssize_t>(count)) return;
  throw ObserveError(fmt::format("process {} could not be switched: {}", pid_,
                                 errno == EIO || errno == 0 ? "it has ended" : std::strerror(errno)));
}

}  // namespace tarn::observer
