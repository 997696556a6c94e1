#include "base/options/option_parser.h"

#include <initializer_list>

#include "base/text.h"

namespace tarn::internal {
namespace {

char first_of(std::string_view text) { return text.empty() ? '\0' : *text.data(); }

constexpr std::string_view kSpaces = " \t\r";

/// Removes the front of the text, through the first of `ends`. \returns the front without that character.
std::string_view take_until(std::string_view* text, std::string_view ends) {
  std::size_t length = 0;
  while (length < text->size() && ends.find(text->data()[length]) == ends.npos) ++length;
  const std::string_view taken(text->data(), length);
  *text = behind_front(*text, length < text->size() ? length + 1 : length);
  return taken;
}

bool parse_bool(std::string_view text, std::int64_t* value) {
  for (const char* word : {"1", "on", "true", "yes"})
    if (text == word) return *value = 1, true;
  for (const char* word : {"0", "off", "false", "no"})
    if (text == word) return *value = 0, true;
  return false;
}

/// Removes the digits at the front. \returns false when there are none or the number is too large.
bool take_digits(std::string_view* text, std::int64_t* value) {
  const char* const start = text->data();
  std::int64_t number = 0;
  for (; first_of(*text) >= '0' && first_of(*text) <= '9'; *text = behind_front(*text, 1))
    if (__builtin_mul_overflow(number, std::int64_t{10}, &number) ||
        __builtin_add_overflow(number, std::int64_t{first_of(*text) - '0'}, &number))
      return false;
  *value = number;
  return text->data() != start;
}

/// \returns the factor of a suffix; 0 when the option has no such suffix.
std::int64_t scale_of(OptionKind kind, std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (kind == OptionKind::kNumber) return 0;
  if (kind == OptionKind::kMilliseconds) return suffix == "ms" ? 1 : suffix == "s" ? 1000 : 0;
  const std::string_view rest = behind_front(suffix, 1);
  if (!rest.empty() && rest != "iB" && rest != "B") return 0;
  switch (first_of(suffix)) {
    case 'k':
    case 'K':
      return kKiB;
    case 'm':
    case 'M':
      return kMiB;
    case 'g':
    case 'G':
      return kGiB;
  }
  return 0;
}

bool parse_number(OptionKind kind, std::string_view text, std::int64_t* value) {
  if (!take_digits(&text, value)) return false;
  const std::int64_t scale = scale_of(kind, text);
  return scale != 0 && !__builtin_mul_overflow(*value, scale, value);
}

bool parse_choice(const OptionInfo& option, std::string_view text, std::int64_t* value) {
  for (std::int64_t index = 0; index <= option.maximum; ++index)
    if (choice_name(option, index) == text) return *value = index, true;
  return false;
}

bool parse_any(const OptionInfo& option, std::string_view text, std::int64_t* value) {
  switch (option.kind) {
    case OptionKind::kBool:
      return parse_bool(text, value);
    case OptionKind::kChoice:
      return parse_choice(option, text, value);
    default:
      return parse_number(option.kind, text, value);
  }
}

}  // namespace

const OptionInfo* find_option(std::string_view key) {
  for (const OptionInfo& option : kOptionTable)
    if (key == option.key) return &option;
  return nullptr;
}

bool parse_option_value(const OptionInfo& option, std::string_view text, std::int64_t* value) {
  if (option.kind == OptionKind::kPath) return true;  // an empty one: none
  return parse_any(option, text, value) && *value >= option.minimum && *value <= option.maximum;
}

// tarn_option_state::kind: programs compare these words, so they are a part of the C interface.
const char* kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::kBool:
      return "switch";
    case OptionKind::kBytes:
      return "bytes";
    case OptionKind::kMilliseconds:
      return "milliseconds";
    case OptionKind::kNumber:
      return "number";
    case OptionKind::kChoice:
      return "choice";
    case OptionKind::kPath:
      break;
  }
  return "path";
}

std::string_view choice_name(const OptionInfo& option, std::int64_t index) {
  std::string_view choices = option.choices;
  for (; index > 0; --index) take_until(&choices, "|");
  return take_until(&choices, "|");
}

EnvironmentName environment_name(const OptionInfo& option) {
  EnvironmentName name{"TARN_"};
  std::size_t length = 5;
  for (const char* at = option.key; *at != '\0' && length + 1 < sizeof name.text; ++at)
    name.text[length++] = *at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at;
  return name;
}

bool next_option_pair(std::string_view* text, OptionPair* pair) {
  while (!text->empty()) {
    const char* const end = text->end();
    std::string_view word = take_until(text, std::string_view(",\n#\0", 4));
    if (word.end() != end && *word.end() == '#') take_until(text, "\n");
    word = trimmed(word, kSpaces);
    if (word.empty()) continue;
    pair->key = trimmed(take_until(&word, ":="), kSpaces);
    pair->value = trimmed(word, kSpaces);
    return true;
  }
  return false;
}

}  // namespace tarn::internal
