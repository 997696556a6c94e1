// Whole files and a temporary directory.
#include "system/files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "observer/files/descriptor.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;

namespace {

/// Whether a device takes nothing, as /dev/full: it says so when asked to take no bytes at all.
bool is_full_device(const fs::path& path) {
  const observer::Descriptor device(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  return device.is_open() && write(device.get(), "", 0) < 0 && errno == ENOSPC;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  const char* base = getenv("TMPDIR");
  std::string name = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/tarn-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  path_ = fs::absolute(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

void write_file(const fs::path& path, const std::string& content) {
  spend_output(content.size());
  const int descriptor = take_output(path);
  const bool is_whole = descriptor >= 0 && observer::write_all(descriptor, content);
  const int error = errno;
  const bool is_closed = descriptor >= 0 && close(descriptor) == 0;
  if (is_whole && is_closed) return;
  throw std::system_error(is_whole ? errno : error, std::generic_category(), path.string());
}

void require_writable(const fs::path& path) {
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  if (access(exists ? path.c_str() : directory.c_str(), W_OK) != 0)
    throw UsageError("cannot write " + path.string() + ": " + std::strerror(errno));
  if (fs::is_directory(path, ignored))
    throw UsageError("cannot write " + path.string() + ": it is a directory");
}

void require_room(const fs::path& path, std::uint64_t bytes) {
  require_writable(path);
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    if (is_full_device(path)) throw UsageError("no space for " + path.string() + ": name another place");
    return;
  }
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::space_info space = fs::space(directory, error);
  if (!error && space.available < bytes)
    throw UsageError("no space for " + path.string() + ": " + std::to_string(bytes >> 20) +
                     " MiB are needed there; name another place");
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string file_named_by(const char* variable) {
  const char* const named = std::getenv(variable);
  if (named == nullptr || *named == 0) return {};
  if (!is_file(named)) throw UsageError(fmt::format("{} names no file: '{}'", variable, named));
  return named;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

fs::path own_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

std::vector<std::string> bench_directories() {
  if (const char* named = std::getenv("TARN_BENCH_PROGRAMS"); named != nullptr && *named != 0) return {named};
  std::vector<std::string> directories;
  for (const char* place : {"bench", "../libexec/tarn"})
    directories.push_back((own_directory() / place).lexically_normal().string());
  return directories;
}

std::string find_shared_file(const fs::path& name) {
  for (const fs::path& directory : {own_directory(), own_directory() / "../share/tarn",
                                    fs::path(TARN_PAGE_SOURCES), fs::path(TARN_BENCH_SOURCES)})
    if (const fs::path file = (directory / name).lexically_normal(); is_file(file)) return file.string();
  return {};
}

}  // namespace tarn::tool
