// Reads options from text: keys, values, "key:value" pairs and the names of environment variables. The
// library and the command `tarn` read with the same functions, so that one accepts what the other does.
//
// Threads: any; the functions know nothing but their arguments and the table.
#pragma once
#include <string_view>

#include "base/option_table.h"

namespace tarn::internal {

/// \returns the option with this key, nullptr when there is none.
const OptionInfo* find_option(std::string_view key);

/// Reads a value, such as "64M" or "on". \returns false when the text is no value of the option. A path is
/// checked alone: *value stays as it was.
bool parse_option_value(const OptionInfo& option, std::string_view text, std::int64_t* value);

/// The name of a choice. \pre 0 <= index <= option.maximum of an option of kind kChoice.
std::string_view choice_name(const OptionInfo& option, std::int64_t index);

/// TARN_ and the key in capitals.
struct EnvironmentName {
  char text[64];
};
EnvironmentName environment_name(const OptionInfo& option);

struct OptionPair {
  std::string_view key, value;  // empty without a separator
};

/// Takes the next "key:value" or "key=value" off the front of the text. Pairs are separated by commas or
/// newlines; # starts a comment to the end of the line. \returns false when none is left.
bool next_option_pair(std::string_view* text, OptionPair* pair);

}  // namespace tarn::internal
