// The values of the options (base/option_table.h), read once before the first block is handed out. Later
// sources win: /etc/tarn.conf, the file named by TARN_CONF_FILE, TARN_CONF="key:value,...", TARN_KEY. A
// set-uid program ignores the environment. A bad key or value prints one line on standard error and leaves
// the default.
// Threads: read() once, under the caller's lock; all else from any thread afterwards. Nothing here allocates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/option_table.h"

namespace tarn::internal {

class Configuration {
 public:
  void read();

  std::int64_t value(Option option) const { return values_[static_cast<std::size_t>(option)]; }
  bool is_on(Option option) const { return value(option) != 0; }
  const char* stats_file() const { return stats_file_; }

  /// Sets one option from text, as "64M" or "on". \returns false when the text is no value of the option.
  bool set(const OptionInfo& option, std::string_view text);
  /// Sets options from pairs as base/option_parser.h reads them; `source` names the source in error lines.
  void set_all(std::string_view text, const char* source);

 private:
  static constexpr std::size_t kLongestPath = 512;

  void set_default_values();
  void read_file(const char* path, bool must_exist);
  void read_environment();

  std::int64_t values_[kOptionCount] = {};
  char stats_file_[kLongestPath] = {};
};

extern Configuration configuration;

/// Prints one line per option on standard error: environment name and value.
void print_configuration();

}  // namespace tarn::internal
