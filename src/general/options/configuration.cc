#include "general/options/configuration.h"

#include <cstring>

#include "base/options/option_parser.h"
#include "base/text.h"
#include "os/code/linking.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "tarn/options.h"

TARN_MAY_BE_DEFINED(tarn_conf);

namespace tarn::internal {
namespace {

constexpr std::size_t kLargestFile = 8 * 1024;
constexpr const char* kMachineFile = "/etc/tarn.conf";

void complain(const char* source, const char* what, std::string_view text) {
  FixedText<512> line;
  line.add("tarn: ").add(source).add(": ").add(what).add(" '").add(text);
  line.add("'; 'tarn options' lists the names\n");
  os::write_line(line.data(), line.length());
}

}  // namespace

constinit Configuration configuration;

consteval std::size_t count_paths() {
  std::size_t count = 0;
  for (const OptionInfo& info : kOptionTable) count += info.kind == OptionKind::kPath ? 1 : 0;
  return count;
}
static_assert(Configuration::kPathCount == count_paths());

std::size_t Configuration::index_of_path(Option option) {
  std::size_t index = 0;
  for (const OptionInfo& info : kOptionTable) {
    if (info.id == option) break;
    if (info.kind == OptionKind::kPath) ++index;
  }
  return index;
}

const char* Configuration::source(Option option) const {
  const char* const source = sources_[static_cast<std::size_t>(option)];
  return source == nullptr ? "default" : source;
}

void Configuration::add_value(Text& text, const OptionInfo& option) const {
  const std::int64_t number = value(option.id);
  switch (option.kind) {
    case OptionKind::kChoice:
      text.add(choice_name(option, number));
      break;
    case OptionKind::kPath:
      text.add(path(option.id));
      break;
    case OptionKind::kMilliseconds:
      text.add_decimal(static_cast<std::uint64_t>(number)).add("ms");
      break;
    // Bytes and switches too: as numbers, which set() takes as well.
    default:
      text.add_decimal(static_cast<std::uint64_t>(number));
      break;
  }
}

// A source that is read later may still set the option.
void Configuration::complain_of_value(const OptionInfo& option, std::string_view text,
                                      const char* name_in_errors) const {
  FixedText<1024> line;
  line.add("tarn: ").add(name_in_errors).add(": bad value '").add(text).add("' for ").add(option.key);
  line.add("; it stays '");
  add_value(line, option);
  line.add("' (").add(source(option.id)).add(")\n");
  os::write_line(line.data(), line.length());
}

void Configuration::set_number(const OptionInfo& option, std::int64_t value, const char* source) {
  const std::int64_t at_least = value < option.minimum ? option.minimum : value;
  values_[static_cast<std::size_t>(option.id)] = at_least > option.maximum ? option.maximum : at_least;
  sources_[static_cast<std::size_t>(option.id)] = source;
}

bool Configuration::set(const OptionInfo& option, std::string_view text, const char* source) {
  std::int64_t value = 0;
  if (!parse_option_value(option, text, &value)) return false;
  if (option.kind == OptionKind::kPath) {
    if (text.size() >= kLongestValue) return false;
    char* const path = paths_[index_of_path(option.id)];
    std::memcpy(path, text.data(), text.size());
    path[text.size()] = '\0';
  }
  values_[static_cast<std::size_t>(option.id)] = value;
  sources_[static_cast<std::size_t>(option.id)] = source;
  return true;
}

void Configuration::set_all(std::string_view text, const char* source, const char* name_in_errors) {
  for (OptionPair pair; next_option_pair(&text, &pair);) {
    const OptionInfo* const option = find_option(pair.key);
    if (option == nullptr) {
      complain(name_in_errors, "unknown option", pair.key);
    } else if (!set(*option, pair.value, source)) {
      complain_of_value(*option, pair.value, name_in_errors);
    }
  }
}

void Configuration::set_default_values() {
  for (std::size_t i = 0; i < kOptionCount; ++i) values_[i] = kOptionTable[i].default_value;
}

void Configuration::read_program() {
  if (TARN_IS_THERE(tarn_conf) && tarn_conf != nullptr) set_all(tarn_conf, "tarn_conf");
}

void Configuration::read_file(const char* path, const char* source) {
  // Under the mutex of set-up. \why not on the stack: the process's first call may come from a small one.
  static char text[kLargestFile];
  const long length = os::read_file(path, text, sizeof text);
  if (length >= 0) return set_all({text, static_cast<std::size_t>(length)}, source, path);
  if (source != kMachineFile) complain(source, "cannot read", path);
}

void Configuration::read_environment() {
  if (const char* path = os::environment("TARN_CONF_FILE"); path != nullptr)
    read_file(path, "TARN_CONF_FILE");
  if (const char* pairs = os::environment("TARN_CONF"); pairs != nullptr) set_all(pairs, "TARN_CONF");
  for (const OptionInfo& option : kOptionTable) {
    const EnvironmentName name = environment_name(option);
    const char* const text = os::environment(name.text);
    if (text != nullptr && !set(option, text, "environment")) complain_of_value(option, text, name.text);
  }
}

void Configuration::read() {
  set_default_values();
  read_program();
  read_file(kMachineFile, kMachineFile);
  read_environment();
}

void print_configuration() {
  for (const OptionInfo& option : kOptionTable) {
    FixedText<768> line;
    line.add("tarn: ").add(environment_name(option).text).add('=');
    configuration.add_value(line, option);
    const std::string_view source = configuration.source(option.id);
    if (source != "default") line.add("  (").add(source).add(')');
    line.add('\n');
    os::write_line(line.data(), line.length());
  }
}

}  // namespace tarn::internal
