// What the runner keeps of a program's output: of standard output a hash, the length and the first bytes, so
// that two runs can be told apart and the place named; of standard error the beginning (where the loader
// complains) and the end (where a program says why it dies). Both take any amount of data in bounded memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::tool {

class OutputDigest {
 public:
  static constexpr std::size_t kKeptBytes = 64 * 1024;

  explicit OutputDigest(std::size_t most_kept_bytes = kKeptBytes) : most_kept_bytes_(most_kept_bytes) {}

  void append(std::string_view bytes);
  std::uint64_t byte_count() const { return byte_count_; }
  /// The output as far as it is kept: from its beginning.
  const std::string& kept() const { return kept_; }
  bool operator==(const OutputDigest& other) const;

  struct Difference {
    std::uint64_t offset;
    bool is_exact;  // false: the outputs part somewhere at or behind the offset, past what is kept
  };
  /// Where the two outputs part; nothing if they are the same.
  std::optional<Difference> first_difference(const OutputDigest& other) const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;  // FNV-1a
  std::uint64_t byte_count_ = 0;
  std::size_t most_kept_bytes_;
  std::string kept_;
};

class ErrorText {
 public:
  static constexpr std::size_t kKeptBytes = 4096;  // at each end

  void append(std::string_view bytes);
  const std::string& beginning() const { return beginning_; }
  /// The last lines, at most `count`, without their line ends; control characters become '?'.
  std::vector<std::string> last_lines(std::size_t count) const;

 private:
  std::string beginning_;
  std::string end_;
};

}  // namespace tarn::tool
