// Files the tool reads and writes as a whole, and a directory that goes away by itself.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tarn::tool {

/// \throws std::system_error if there is no place for one
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The whole file; nothing if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// \throws std::system_error naming the file
void write_file(const std::filesystem::path& path, const std::string& content);

/// Makes sure, before an hour of measuring, that a result can be written there. \throws UsageError
void require_writable(const std::filesystem::path& path);

/// The same, and that the file system has room for so many bytes. \throws UsageError
void require_room(const std::filesystem::path& path, std::uint64_t bytes);

/// Whether there is a file that is no directory; what cannot be looked at is none.
bool is_file(const std::filesystem::path& path);

/// The file that a variable of the environment names; empty where it is not set. \throws UsageError if there
/// is no such file
std::string file_named_by(const char* variable);

/// Whether two paths lead to one file.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// A file that comes with the tool: beside it, where it is installed, or among its sources. \returns its
/// path, empty if it is nowhere
std::string find_shared_file(const std::filesystem::path& name);

/// Where the benchmark programs may be: in $TARN_BENCH_PROGRAMS alone, else beside the tool and where they
/// are installed.
std::vector<std::string> bench_directories();

/// The directory of the running executable.
std::filesystem::path own_directory();

}  // namespace tarn::tool
