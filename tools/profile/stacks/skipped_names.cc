#include "profile/stacks/skipped_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/leak_rules.h"
#include "observer/files/input_file.h"
#include "observer/text/printable.h"
#include "profile/names/function_name.h"

namespace tarn::profile {

std::string read_list(const std::string& path) {
  const observer::InputFile file = observer::open_regular_file(path);
  if (!file.is_open())
    throw ListError(fmt::format("{}: cannot be read: {}", observer::printable(path), std::strerror(errno)));
  if (file.bytes() > internal::kLargestLeakFile)
    throw ListError(fmt::format("{}: a list has at most 1 MiB", observer::printable(path)));
  std::string text(file.bytes(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  return text;
}

SkippedNames SkippedNames::parse(std::string_view text) {
  SkippedNames names;
  while (!text.empty()) {
    const std::string_view line = internal::trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.empty() && line.front() != '#') names.patterns.emplace_back(line);
  }
  return names;
}

FrameRole role_of(const Frame& frame, const SkippedNames& skipped) {
  // Where Rust's library was built.
  if (frame.file.starts_with("/rustc/") || is_of_library(frame.function)) return FrameRole::kLibrary;
  const bool is_skipped =
      is_wrapper(frame.function) || std::ranges::any_of(skipped.patterns, [&](const std::string& pattern) {
        return internal::is_leak_match(pattern, frame.function);
      });
  return is_skipped ? FrameRole::kWrapper : FrameRole::kProgram;
}

}  // namespace tarn::profile
