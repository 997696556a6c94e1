#include "observer/files/input_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "observer/files/outside_wait.h"

namespace tarn::observer {

// \why a wait: a file system is asked for its file, and need not answer
InputFile::InputFile(const std::string& path, int flags, int directory) {
  const OutsideWait waiting;
  descriptor_ = Descriptor(openat(directory, path.c_str(), O_CLOEXEC | flags));
}

InputFile InputFile::duplicate() const { return InputFile(fcntl(descriptor(), F_DUPFD_CLOEXEC, 0)); }

std::uint64_t InputFile::bytes() const {
  struct stat status {};
  const bool is_regular = fstat(descriptor(), &status) == 0 && S_ISREG(status.st_mode);
  return is_regular ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::size_t InputFile::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  const OutsideWait waiting;
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t part =
        pread(descriptor(), static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    done += static_cast<std::size_t>(part);
  }
  return done;
}

InputFile open_regular_file(const std::string& path) {
  const OutsideWait waiting;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  // It may be another file by now: a pipe is not waited for, a terminal not taken.
  InputFile file(path, O_NONBLOCK | O_NOCTTY);
  if (file.is_open() && fstat(file.descriptor(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  return {};
}

InputFile open_regular_place(const InputFile& place) {
  struct stat status {};
  if (!place.is_open() || fstat(place.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return InputFile(fmt::format("/proc/self/fd/{}", place.descriptor()), O_NONBLOCK | O_NOCTTY);
}

}  // namespace tarn::observer
