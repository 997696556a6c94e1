// Which leaks are known and not reported, in LeakSanitizer's format: a line "leak:pattern" for each.
//
// A pattern is looked for in the function, the file and the module of each frame; "*" stands for any text,
// "^" in front and "$" at the end bind it to the ends of the text. "#" begins a line of comment.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// One line that names the file and the line number, and says what is expected.
class SuppressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Suppression {
  std::string pattern;
  Amount suppressed;
};

class Suppressions {
 public:
  Suppressions() = default;  // none
  /// \param file_name for messages. \throws SuppressionError for a line that is none.
  static Suppressions parse(std::string_view text, const std::string& file_name);
  /// \throws SuppressionError also for a file that cannot be read, or of more than a MiB.
  static Suppressions read(const std::string& path);

  /// Whether a stack is suppressed; its live memory is added to the first pattern that is found in it.
  bool suppress(const NamedStack& stack, const HeapProfile& profile);

  const std::vector<Suppression>& all() const { return all_; }
  std::vector<std::string> unused() const;

 private:
  std::vector<Suppression> all_;
};

}  // namespace tarn::profile
