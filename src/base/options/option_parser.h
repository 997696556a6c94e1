// Reads options from text: keys, values, "key:value" pairs and the names of environment variables. The
// library and the command `tarn` use the same functions, so that both accept the same text.
//
// Threads: any; the functions use only their arguments and the constant table.
#pragma once
#include <string_view>

#include "base/options/option_table.h"

namespace tarn::internal {

/// \returns the option with this key, nullptr when there is none.
const OptionInfo* find_option(std::string_view key);

/// Reads a value, such as "64M" or "on". \returns false when the text is no value of the option. A path is
/// only checked: *value does not change.
bool parse_option_value(const OptionInfo& option, std::string_view text, std::int64_t* value);

/// "switch", "bytes", "milliseconds", "choice" or "path".
const char* kind_name(OptionKind kind);

/// The name of a choice. \pre 0 <= index <= option.maximum of an option of kind kChoice.
std::string_view choice_name(const OptionInfo& option, std::int64_t index);

/// TARN_ and the key in capital letters.
struct EnvironmentName {
  char text[64];
};
EnvironmentName environment_name(const OptionInfo& option);

struct OptionPair {
  std::string_view key, value;  // value: empty when there is no separator
};

/// Removes the next "key:value" or "key=value" from the front of the text. Commas or newlines separate pairs;
/// # starts a comment up to the end of the line. \returns false when no pair is left.
bool next_option_pair(std::string_view* text, OptionPair* pair);

}  // namespace tarn::internal
