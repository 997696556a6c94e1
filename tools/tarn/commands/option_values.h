// The library's options as the command line and a reader see them; all of it comes from the one table in
// base/options/option_table.h and the one parser, base/options/option_parser.h.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/options/option_table.h"
#include "system/files/environment.h"

namespace tarn::tool {

inline constexpr const char* kHowOptionsAreSet =
    "Set by the environment names below, or as \"key:value,key:value\" in TARN_CONF, in the file that\n"
    "TARN_CONF_FILE names, in /etc/tarn.conf, or for one program by `tarn run --set key=value`.\n"
    "Sizes take K, M, G; times take ms, s. A program may bring defaults along (tarn_conf) and set options\n"
    "itself (tarn/options.h): before its first allocation, or where it says so, also while it runs.";

/// "64 MiB", "2000 ms", "on", "default"
std::string format_option_value(const internal::OptionInfo& option, std::int64_t value);

/// What may be given: "64 KiB .. 1 GiB", "default|lfh128|stepped", "on|off", "a file name"
std::string format_accepted_values(const internal::OptionInfo& option);

/// The environment's name and value for a "key=value" of the command line, given with this flag.
/// \throws UsageError if the key is unknown or the value is not one the option takes
std::pair<std::string, std::string> parse_setting(const std::string& setting, const char* flag = "--set");

/// Sets options that were given by --set. \throws as parse_setting()
void set_options(Environment& environment, const std::vector<std::string>& settings);

}  // namespace tarn::tool
