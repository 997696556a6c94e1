#include "general/configuration.h"

#include <cstring>

#include "base/option_parser.h"
#include "base/text.h"
#include "os/fatal.h"
#include "os/process.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kLargestFile = 8 * 1024;

void complain(const char* source, const char* what, std::string_view text, const OptionInfo* option) {
  FixedText<512> line;
  line.add("tarn: ").add(source).add(": ").add(what).add(" '").add(text).add('\'');
  if (option != nullptr) {
    line.add(" for ").add(option->key).add("; its default is used");
  } else {
    line.add("; 'tarn options' lists the names");
  }
  line.add('\n');
  os::write_line(line.data(), line.length());
}

}  // namespace

constinit Configuration configuration;

bool Configuration::set(const OptionInfo& option, std::string_view text) {
  std::int64_t value = 0;
  if (!parse_option_value(option, text, &value)) return false;
  if (option.kind == OptionKind::kPath) {
    if (text.size() >= kLongestPath) return false;
    std::memcpy(stats_file_, text.data(), text.size());
    stats_file_[text.size()] = '\0';
    return true;
  }
  values_[static_cast<std::size_t>(option.id)] = value;
  return true;
}

void Configuration::set_all(std::string_view text, const char* source) {
  for (OptionPair pair; next_option_pair(&text, &pair);) {
    const OptionInfo* const option = find_option(pair.key);
    if (option == nullptr) {
      complain(source, "unknown option", pair.key, nullptr);
    } else if (!set(*option, pair.value)) {
      complain(source, "bad value", pair.value, option);
    }
  }
}

void Configuration::set_default_values() {
  for (std::size_t i = 0; i < kOptionCount; ++i) values_[i] = kOptionTable[i].default_value;
}

void Configuration::read_file(const char* path, bool must_exist) {
  char text[kLargestFile];
  const long length = os::read_file(path, text, sizeof text);
  if (length >= 0) return set_all({text, static_cast<std::size_t>(length)}, path);
  if (must_exist) complain("TARN_CONF_FILE", "cannot read", path, nullptr);
}

void Configuration::read_environment() {
  if (const char* path = os::environment("TARN_CONF_FILE"); path != nullptr) read_file(path, true);
  if (const char* pairs = os::environment("TARN_CONF"); pairs != nullptr) set_all(pairs, "TARN_CONF");
  for (const OptionInfo& option : kOptionTable) {
    const EnvironmentName name = environment_name(option);
    const char* const text = os::environment(name.text);
    if (text != nullptr && !set(option, text)) complain(name.text, "bad value", text, &option);
  }
}

void Configuration::read() {
  set_default_values();
  read_file("/etc/tarn.conf", false);
  read_environment();
}

void print_configuration() {
  for (const OptionInfo& option : kOptionTable) {
    FixedText<768> line;
    line.add("tarn: ").add(environment_name(option).text).add('=');
    const std::int64_t value = configuration.value(option.id);
    switch (option.kind) {
      case OptionKind::kChoice:
        line.add(choice_name(option, value));
        break;
      case OptionKind::kPath:
        line.add(configuration.stats_file());
        break;
      case OptionKind::kMilliseconds:
        line.add_decimal(static_cast<std::uint64_t>(value)).add("ms");
        break;
      default:
        line.add_decimal(static_cast<std::uint64_t>(value));
        break;
    }
    line.add('\n');
    os::write_line(line.data(), line.length());
  }
}

}  // namespace tarn::internal
