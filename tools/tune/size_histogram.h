// How many blocks of each requested size are live, at a program's peak.
//
// As text, a line has a size in bytes and a count; # starts a comment. As JSON:
//
//   {"live_sizes": [{"size": 4360, "count": 14534}, ...]}
//
// Lines of one size add up.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string_view>

namespace tarn::tune {

/// What was given cannot be read; what() says where and why.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SizeHistogram {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;  // of all blocks together

  /// \throws BadInput when all blocks together have more than kMostBytes
  void add(std::uint64_t size, std::uint64_t count);

  const std::map<std::uint64_t, std::uint64_t>& counts() const { return counts_; }  // by size
  bool is_empty() const { return counts_.empty(); }

 private:
  std::map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t bytes_ = 0;
};

/// Reads either form. \throws BadInput
SizeHistogram read_histogram(std::string_view text);

}  // namespace tarn::tune
