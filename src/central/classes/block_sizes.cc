#include "central/classes/block_sizes.h"

namespace tarn::internal {
namespace {

constexpr std::string_view kFormat = "tarn-classes";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kLongestShown = 24;  // bytes of a word in a line about it
constexpr std::size_t kMostDigits = 9;

bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

/// Words of a text, with the line they stand in. \why by pointers: the checks of string_view may call the C++
/// runtime (base/options/option_parser.cc).
class Words {
 public:
  explicit Words(std::string_view text) : next_(text.data()), end_(text.data() + text.size()) {}

  /// \returns the next word; an empty one at the end of the text.
  std::string_view next() {
    skip_to_word();
    const char* const first = next_;
    while (next_ != end_ && !is_space(*next_) && *next_ != '#') ++next_;
    return {first, static_cast<std::size_t>(next_ - first)};
  }
  unsigned line() const { return line_; }

 private:
  void skip_to_word() {
    for (bool is_comment = false; next_ != end_; ++next_) {
      if (*next_ == '\n') ++line_, is_comment = false;
      if (*next_ == '#') is_comment = true;
      if (!is_comment && !is_space(*next_)) return;
    }
  }

  const char* next_;
  const char* end_;
  unsigned line_ = 1;
};

void add_quoted(Text& text, std::string_view word) {
  text.add('\'');
  const std::size_t shown = word.size() < kLongestShown ? word.size() : kLongestShown;
  for (const char character : std::string_view(word.data(), shown))
    text.add(character > ' ' && character <= '~' ? character : '?');
  text.add(word.size() > kLongestShown ? "...'" : "'");
}

bool read_number(std::string_view word, std::uint32_t* number) {
  if (word.size() > kMostDigits) return false;
  *number = 0;
  for (const char digit : word) {
    if (digit < '0' || digit > '9') return false;
    *number = *number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return true;
}

bool reads_heading(Words& words, Text& what) {
  if (words.next() != kFormat) {
    what.add("the first line must be 'tarn-classes 1'");
    return false;
  }
  const std::string_view version = words.next();
  if (version == kVersion) return true;
  what.add("version ");
  add_quoted(what, version);
  what.add(" is none that this library reads, which is 1");
  return false;
}

void say_why_no_class(std::uint32_t bytes, Text& what) {
  what.add_decimal(bytes);
  if (bytes > detail::kMediumLimit) {
    what.add(" is larger than 262144, the largest class");
  } else if (bytes > detail::kSteppedLimit) {
    what.add(" is no class: above 16384 the next is ").add_decimal(bin_limit(detail::bin_of(bytes)));
  } else if (bytes > detail::kSmallLimit) {
    what.add(" is no multiple of 64, as sizes above 1024 are");
  } else {
    what.add(" is no multiple of 16, as sizes but 8 are");
  }
}

/// Whether all required sizes below one are there.
bool has_required_below(const BlockSizes& sizes, std::uint32_t bytes, Text& what) {
  for (const std::uint32_t required : kRequiredSizes) {
    if (required >= bytes) break;
    bool is_there = false;
    for (const std::uint32_t size : sizes) is_there |= size == required;
    if (is_there) continue;
    what.add_decimal(required).add(" is missing, which each table has");
    return false;
  }
  return true;
}

// Adds a size if no limit of the table forbids it; else `what` says which one, for the user who wrote it.
bool add_size(std::uint32_t bytes, BlockSizes& sizes, Text& what) {
  if (!may_be_class(bytes)) {
    say_why_no_class(bytes, what);
    return false;
  }
  if (bytes <= sizes.last()) {
    what.add_decimal(bytes).add(" follows ").add_decimal(sizes.last()).add(", but sizes ascend");
    return false;
  }
  if (BlockSizes::is_medium(bytes) && sizes.medium_count() == kMostMediumSizes) {
    what.add_decimal(bytes).add(" is one too many: at most 64 classes are above 1024 and up to 16384");
    return false;
  }
  if (!has_required_below(sizes, bytes, what)) return false;
  sizes.add(bytes);
  return true;
}

bool add_word(std::string_view word, BlockSizes& sizes, Text& what) {
  std::uint32_t bytes = 0;
  if (read_number(word, &bytes)) return add_size(bytes, sizes, what);
  add_quoted(what, word);
  what.add(" is no block size");
  return false;
}

}  // namespace

BlockSizes sizes_of_preset(const SizeClassPreset& preset) {
  BlockSizes sizes;
  if (has_class(preset, detail::kTinyBin)) sizes.add(detail::kTinyLimit);
  for (unsigned bin = 1; bin < detail::kTinyBin; ++bin)
    if (has_class(preset, bin)) sizes.add(bin_limit(Bin{bin}));
  return sizes;
}

bool read_block_sizes(std::string_view text, BlockSizes& sizes, BlockSizesFault& fault) {
  sizes = {};
  Words words(text);
  bool is_good = reads_heading(words, fault.what);
  while (is_good) {
    const std::string_view word = words.next();
    if (word.empty()) break;
    is_good = add_word(word, sizes, fault.what);
  }
  is_good = is_good && has_required_below(sizes, UINT32_MAX, fault.what);
  fault.line = words.line();
  return is_good;
}

}  // namespace tarn::internal
