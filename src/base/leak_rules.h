// The rules of the search for leaks that the library, which looks from inside, and its tools, which look from
// outside, have in common: which words may be addresses, what is not read for them, which leaks are known.
//
// Known ones are told as to LeakSanitizer: a line "leak:PATTERN" for each. "*" stands for any text, "^" in
// front and "$" at the end bind a pattern to the ends of the text; "#" begins a line of comment.
//
// Threads: any; the functions use only their arguments.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace tarn::internal {

/// The bits of a word that is taken for an address: programs put tags into the upper ones (NaN boxing), and
/// user space has 47 or 48.
inline constexpr std::uint64_t kBitsOfAddress = (std::uint64_t{1} << 48) - 1;

/// Whether a mapped file is a device, and no memory: reading one may do something.
constexpr bool is_mapped_device(std::string_view path) {
  for (const std::string_view memory : {"/dev/shm/", "/dev/zero", "/dev/hugepages"})
    if (begins_with(path, memory)) return false;
  return begins_with(path, "/dev/");
}

inline constexpr std::size_t kLongestLeakPattern = 4096;  // bytes of a line
inline constexpr std::size_t kMostLeakPatterns = 10'000;  // of a file
inline constexpr std::size_t kLargestLeakFile = std::size_t{1} << 20;

/// \returns the text without blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) { return trimmed(text, " \t\r\v\f"); }

enum class LeakLine : char {
  kPattern,
  kComment,  // or nothing
  kNone,     // no suppression
  kOfAll,    // its pattern would suppress every leak
  kTooLong,
};

/// Reads a line, blanks around it removed. \post *pattern is set where the line has one.
constexpr LeakLine read_leak_line(std::string_view line, std::string_view* pattern) {
  constexpr std::string_view kType = "leak:";
  if (line.empty() || line.front() == '#') return LeakLine::kComment;
  if (!begins_with(line, kType)) return LeakLine::kNone;
  const std::string_view found = trimmed(behind_front(line, kType.size()));
  if (found.find_first_not_of("*^$") == std::string_view::npos) return LeakLine::kOfAll;
  if (line.size() > kLongestLeakPattern) return LeakLine::kTooLong;
  *pattern = found;
  return LeakLine::kPattern;
}

/// Whether a pattern is found in a text. The last "*" alone is ever tried anew.
/// \cost their lengths multiplied, at most
constexpr bool is_leak_match(std::string_view pattern, std::string_view text) {
  if (text.empty() || pattern.empty()) return false;
  const bool is_bound_to_start = pattern.front() == '^';
  if (is_bound_to_start) pattern.remove_prefix(1);
  const bool is_bound_to_end = !pattern.empty() && pattern.back() == '$';
  if (is_bound_to_end) pattern.remove_suffix(1);
  constexpr std::size_t kNoStar = std::string_view::npos;
  // A pattern that is not bound begins, and ends, as if it had a star there.
  std::size_t at = 0, star = is_bound_to_start ? kNoStar : 0, star_text = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at == pattern.size() && !is_bound_to_end) return true;
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_text = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != kNoStar) {
      at = star;
      i = ++star_text;
    } else {
      return false;
    }
  }
  return at == pattern.size() || pattern.find_first_not_of('*', at) == kNoStar;
}

}  // namespace tarn::internal
