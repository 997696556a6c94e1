#include "general/configuration.h"

#include <cstring>
#include <initializer_list>

#include "base/text.h"
#include "os/fatal.h"
#include "os/process.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kLargestFile = 8 * 1024;

bool equals(const char* text, std::size_t length, const char* word) {
  return std::strlen(word) == length && std::memcmp(text, word, length) == 0;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool parse_bool(const char* text, std::size_t length, std::int64_t* value) {
  for (const char* word : {"1", "on", "true", "yes"})
    if (equals(text, length, word)) return *value = 1, true;
  for (const char* word : {"0", "off", "false", "no"})
    if (equals(text, length, word)) return *value = 0, true;
  return false;
}

/// Digits at the start of the text. \returns how many characters they take; 0: none, or too large.
std::size_t parse_digits(const char* text, std::size_t length, std::int64_t* value) {
  std::size_t at = 0;
  std::int64_t number = 0;
  for (; at < length && text[at] >= '0' && text[at] <= '9'; ++at)
    if (__builtin_mul_overflow(number, std::int64_t{10}, &number) ||
        __builtin_add_overflow(number, std::int64_t{text[at] - '0'}, &number))
      return 0;
  *value = number;
  return at;
}

bool parse_bytes(const char* text, std::size_t length, std::int64_t* value) {
  const std::size_t digits = parse_digits(text, length, value);
  if (digits == 0) return false;
  if (digits == length) return true;
  std::int64_t scale = 0;
  switch (to_lower(text[digits])) {
    case 'k':
      scale = kKiB;
      break;
    case 'm':
      scale = kMiB;
      break;
    case 'g':
      scale = kGiB;
      break;
    default:
      return false;
  }
  const char* const rest = text + digits + 1;
  const std::size_t rest_length = length - digits - 1;
  if (rest_length != 0 && !equals(rest, rest_length, "iB") && !equals(rest, rest_length, "B")) return false;
  return !__builtin_mul_overflow(*value, scale, value);
}

bool parse_milliseconds(const char* text, std::size_t length, std::int64_t* value) {
  const std::size_t digits = parse_digits(text, length, value);
  if (digits == 0) return false;
  if (digits == length || equals(text + digits, length - digits, "ms")) return true;
  return equals(text + digits, length - digits, "s") &&
         !__builtin_mul_overflow(*value, std::int64_t{1000}, value);
}

bool parse_choice(const char* choices, const char* text, std::size_t length, std::int64_t* value) {
  std::int64_t index = 0;
  for (const char* start = choices;; ++index) {
    const char* const end = std::strchr(start, '|');
    const std::size_t word = end != nullptr ? static_cast<std::size_t>(end - start) : std::strlen(start);
    if (word == length && std::memcmp(start, text, length) == 0) return *value = index, true;
    if (end == nullptr) return false;
    start = end + 1;
  }
}

const OptionInfo* find_option(const char* key, std::size_t length) {
  for (const OptionInfo& option : kOptionTable)
    if (equals(key, length, option.key)) return &option;
  return nullptr;
}

void add_part(Text& line, const char* text, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) line.add(text[i]);
}

void complain(const char* source, const char* what, const char* text, std::size_t length,
              const OptionInfo* option) {
  FixedText<512> line;
  line.add("tarn: ").add(source).add(": ").add(what).add(" '");
  add_part(line, text, length);
  line.add('\'');
  if (option != nullptr) {
    line.add(" for ").add(option->key).add("; its default is used");
  } else {
    line.add("; 'tarn options' lists the names");
  }
  line.add('\n');
  os::write_line(line.data(), line.length());
}

void add_choice(Text& line, const char* choices, std::int64_t index) {
  const char* at = choices;
  for (; index > 0; --index) at = std::strchr(at, '|') + 1;
  for (; *at != '\0' && *at != '|'; ++at) line.add(*at);
}

}  // namespace

constinit Configuration configuration;

bool parse_option_value(const OptionInfo& option, const char* text, std::size_t length, std::int64_t* value) {
  bool is_valid = false;
  switch (option.kind) {
    case OptionKind::kBool:
      is_valid = parse_bool(text, length, value);
      break;
    case OptionKind::kBytes:
      is_valid = parse_bytes(text, length, value);
      break;
    case OptionKind::kMilliseconds:
      is_valid = parse_milliseconds(text, length, value);
      break;
    case OptionKind::kChoice:
      is_valid = parse_choice(option.choices, text, length, value);
      break;
    case OptionKind::kPath:
      return length != 0;
  }
  return is_valid && *value >= option.minimum && *value <= option.maximum;
}

void environment_name(const OptionInfo& option, char* name, std::size_t capacity) {
  Text text(name, capacity - 1);
  text.add("TARN_");
  for (const char* at = option.key; *at != '\0'; ++at)
    text.add(*at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at);
  name[text.length()] = '\0';
}

bool Configuration::set(const OptionInfo& option, const char* text, std::size_t length) {
  std::int64_t value = 0;
  if (!parse_option_value(option, text, length, &value)) return false;
  if (option.kind == OptionKind::kPath) {
    if (length >= kLongestPath) return false;
    std::memcpy(stats_file_, text, length);
    stats_file_[length] = '\0';
    return true;
  }
  values_[static_cast<std::size_t>(option.id)] = value;
  return true;
}

void Configuration::set_all(const char* text, std::size_t length, const char* source) {
  const char* const end = text + length;
  while (text < end) {
    const char* stop = text;
    while (stop < end && *stop != ',' && *stop != '\n' && *stop != '#' && *stop != '\0') ++stop;
    const char *first = text, *last = stop;
    while (first < last && is_space(*first)) ++first;
    while (last > first && is_space(last[-1])) --last;
    if (first != last) {
      const char* separator = first;
      while (separator < last && *separator != ':' && *separator != '=') ++separator;
      const char *key_end = separator, *value = separator < last ? separator + 1 : last;
      while (key_end > first && is_space(key_end[-1])) --key_end;
      while (value < last && is_space(*value)) ++value;
      const OptionInfo* const option = find_option(first, static_cast<std::size_t>(key_end - first));
      if (option == nullptr) {
        complain(source, "unknown option", first, static_cast<std::size_t>(key_end - first), nullptr);
      } else if (!set(*option, value, static_cast<std::size_t>(last - value))) {
        complain(source, "bad value", value, static_cast<std::size_t>(last - value), option);
      }
    }
    if (stop < end && *stop == '#')
      while (stop < end && *stop != '\n') ++stop;
    text = stop + 1;
  }
}

void Configuration::set_default_values() {
  for (std::size_t i = 0; i < kOptionCount; ++i) values_[i] = kOptionTable[i].default_value;
}

void Configuration::read_file(const char* path, bool must_exist) {
  char text[kLargestFile];
  const long length = os::read_file(path, text, sizeof text);
  if (length >= 0) return set_all(text, static_cast<std::size_t>(length), path);
  if (must_exist) complain("TARN_CONF_FILE", "cannot read", path, std::strlen(path), nullptr);
}

void Configuration::read_environment() {
  if (const char* path = os::environment("TARN_CONF_FILE"); path != nullptr) read_file(path, true);
  if (const char* pairs = os::environment("TARN_CONF"); pairs != nullptr)
    set_all(pairs, std::strlen(pairs), "TARN_CONF");
  for (const OptionInfo& option : kOptionTable) {
    char name[64];
    environment_name(option, name, sizeof name);
    const char* const text = os::environment(name);
    if (text != nullptr && !set(option, text, std::strlen(text)))
      complain(name, "bad value", text, std::strlen(text), &option);
  }
}

void Configuration::read() {
  set_default_values();
  read_file("/etc/tarn.conf", false);
  read_environment();
}

void print_configuration() {
  for (const OptionInfo& option : kOptionTable) {
    char name[64];
    environment_name(option, name, sizeof name);
    FixedText<768> line;
    line.add("tarn: ").add(name).add('=');
    const std::int64_t value = configuration.value(option.id);
    switch (option.kind) {
      case OptionKind::kChoice:
        add_choice(line, option.choices, value);
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
