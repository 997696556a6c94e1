// Which functions are told of as the ones that wanted memory, and which are between these and malloc.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profile/files/frame.h"

namespace tarn::profile {

/// Of a file with a list that a user gave: one line that names the file and says what is expected.
class ListError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// \throws ListError for a file that cannot be read, or of more than a MiB.
std::string read_list(const std::string& path);

/// A program's own forms of malloc, besides those that is_wrapper() knows.
struct SkippedNames {
  std::vector<std::string> patterns = {};  // as those of suppressions.h, of functions

  /// A pattern a line; blank lines and those that begin with "#" are none.
  static SkippedNames parse(std::string_view text);
};

FrameRole role_of(const Frame& frame, const SkippedNames& skipped = {});

}  // namespace tarn::profile
