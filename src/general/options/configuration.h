// The values of the options (base/options/option_table.h), read once before the first block is handed out.
// Later sources win: the program's tarn_conf, /etc/tarn.conf, the file named by TARN_CONF_FILE,
// TARN_CONF="key:value,...", TARN_KEY; and what the program sets by tarn/options.h. A set-uid program ignores
// the environment. A bad key or value prints one line on standard error and leaves the value as it was.
// Threads: values are read by any thread at any time. All else is under the set-up's mutex
// (general/options/setup.h). Nothing here allocates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/options/option_table.h"
#include "base/relaxed.h"
#include "base/text.h"

namespace tarn::internal {

class Configuration {
 public:
  static constexpr std::size_t kLongestValue = 512;  // bytes of text, with the 0 behind a path
  static constexpr std::size_t kPathCount = 3;       // of options that are one

  void read();

  std::int64_t value(Option option) const { return values_[static_cast<std::size_t>(option)]; }
  bool is_on(Option option) const { return value(option) != 0; }
  const char* classes_file() const { return path(Option::kClassesFile); }
  const char* stats_file() const { return path(Option::kStatsFile); }
  const char* leaks_suppressions() const { return path(Option::kLeaksSuppressions); }

  /// Who set the present value: "default", or what was passed with it.
  const char* source(Option option) const;
  bool is_set(Option option) const { return sources_[static_cast<std::size_t>(option)] != nullptr; }
  /// Adds the present value, as set() takes it.
  void add_value(Text& text, const OptionInfo& option) const;

  /// Sets one option from text, as "64M" or "on". \param source names who sets it; the text must stay valid.
  /// \returns false when the text is no value of the option.
  bool set(const OptionInfo& option, std::string_view text, const char* source);
  /// The same from a number, which is brought into the option's limits. \pre the option's value is a number.
  void set_number(const OptionInfo& option, std::int64_t value, const char* source);
  /// Sets options from pairs as base/options/option_parser.h reads them; `source` also names the source in
  /// error lines.
  void set_all(std::string_view text, const char* source) { set_all(text, source, source); }

 private:
  friend class ObservedLayout;

  /// \pre the option is a path.
  static std::size_t index_of_path(Option option);
  const char* path(Option option) const { return paths_[index_of_path(option)]; }
  void set_all(std::string_view text, const char* source, const char* name_in_errors);
  void complain_of_value(const OptionInfo& option, std::string_view text, const char* name_in_errors) const;
  void set_default_values();
  void read_program();
  void read_file(const char* path, const char* source);
  void read_environment();

  Relaxed<std::int64_t> values_[kOptionCount];
  const char* sources_[kOptionCount] = {};
  char paths_[kPathCount][kLongestValue] = {};
};

extern Configuration configuration;

/// Prints one line per option on standard error: environment name, value, and who set it if any has.
void print_configuration();

}  // namespace tarn::internal
