// Which leaks are known and not reported, in LeakSanitizer's format: a line "leak:pattern" for each.
//
// A pattern is looked for in the function, the file and the module of each frame; "*" stands for any text,
// "^" in front and "$" at the end bind it to the ends of the text. "#" begins a line of comment.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct Suppression {
  std::string pattern;
  Amount suppressed;
};

class Suppressions {
 public:
  Suppressions() = default;  // none
  /// \param file_name for messages. \throws ListError for a line that is none.
  static Suppressions parse(std::string_view text, const std::string& file_name);
  /// Adds those of one more file. \throws as parse()
  void add(std::string_view text, const std::string& file_name);

  /// Whether a stack is suppressed; its live memory is added to the first pattern that is found in it.
  bool suppress(const NamedStack& stack, const HeapProfile& profile);

  const std::vector<Suppression>& all() const { return all_; }
  std::vector<std::string> unused() const;

 private:
  std::vector<Suppression> all_;
};

}  // namespace tarn::profile
