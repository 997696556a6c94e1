#include "system/files/output_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <system_error>

#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;

namespace {

/// A file that open_output() has opened.
struct OpenOutput {
  int descriptor;
  bool is_new;
};

struct OpenOutputs {
  ~OpenOutputs() {
    std::error_code ignored;
    for (const auto& [path, output] : of)
      if (output.is_new) fs::remove(path, ignored);
  }
  std::map<fs::path, OpenOutput> of;
};

OpenOutputs& outputs() {
  static OpenOutputs outputs;
  return outputs;
}

int open_to_write(const fs::path& path, int flags) {
  constexpr mode_t kForAll = 0666;  // less what umask says
  return open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kForAll);
}

std::uint64_t most_bytes = kMostOutputBytes, left_bytes = kMostOutputBytes;

}  // namespace

void allow_output(std::uint64_t bytes) { most_bytes = left_bytes = bytes; }

void spend_output(std::uint64_t bytes) {
  if (bytes > left_bytes)
    throw std::runtime_error(
        fmt::format("{} is the most that is written, and this is more: the program's records may be forged",
                    format_bytes(static_cast<double>(most_bytes))));
  left_bytes -= bytes;
}

void print_document(const std::string& content) {
  spend_output(content.size());
  std::fwrite(content.data(), 1, content.size(), stdout);
}

void open_output(const fs::path& path) {
  require_writable(path);
  OpenOutput output{open_to_write(path, O_EXCL), true};
  if (output.descriptor < 0) output = {open_to_write(path, 0), false};
  if (output.descriptor < 0) throw UsageError("cannot write " + path.string() + ": " + std::strerror(errno));
  outputs().of[path] = output;
}

void make_output(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  const OpenOutput output{open_to_write(path, O_EXCL), true};
  if (output.descriptor < 0) throw UsageError("cannot write " + path.string() + ": " + std::strerror(errno));
  outputs().of[path] = output;
}

// \why the lock: a command that was killed may still end its file when the next one begins; two would mix.
int take_output(const fs::path& path) {
  const auto kept = outputs().of.extract(path);
  const int descriptor = kept ? kept.mapped().descriptor : open_to_write(path, 0);
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return descriptor;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor);
    throw UsageError(
        fmt::format("another command is writing {}: wait for it, or name another file", path.string()));
  }
  if (ftruncate(descriptor, 0) != 0) return close(descriptor), -1;
  return descriptor;
}

}  // namespace tarn::tool
