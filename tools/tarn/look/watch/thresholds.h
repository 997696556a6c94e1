// The bounds of `tarn watch`, and which of them the last look was above.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/results.h"

namespace tarn::tool {

/// Whether a look is at a cgroup as a whole, not at a process.
bool is_of_cgroup(const Json& memory);

/// \param figure "rss", a part, or "cgroup" of one. \returns nothing where the look has no such figure
std::optional<std::uint64_t> figure_in(const Json& memory, const std::string& figure);

struct Threshold {
  std::string figure;
  std::uint64_t bytes;
  bool is_above = false;  // it was, at the last look
};

class Thresholds {
 public:
  /// \param texts as "rss=2G" \throws UsageError
  Thresholds(const std::vector<std::string>& texts, bool has_cgroup);

  /// \param memory null: there is nothing to look at. \returns those whose state has changed
  std::vector<Threshold> compare(const Json& memory);
  /// The figures that were above.
  std::vector<std::string> above() const;

 private:
  std::vector<Threshold> thresholds_;
};

}  // namespace tarn::tool
