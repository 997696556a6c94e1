// The options parser: any text as the value of an option and as a file of options; and texts of pairs, as a
// file or TARN_CONF has them, against a model that knows what each was made of. And options of the running
// library, set by its own calls.
#include "tarn/options.h"

#include <initializer_list>
#include <iterator>
#include <string>

#include "base/options/option_parser.h"
#include "fuzz/program.h"
#include "general/options/configuration.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {
namespace {

using namespace internal;

bool is_in_range(const OptionInfo& option, std::int64_t value) {
  return value >= option.minimum && value <= option.maximum;
}

void parse_value(Program& program) {
  const OptionInfo& option = kOptionTable[program.below(kOptionCount)];
  if (option.kind == OptionKind::kPath) return;
  const std::string_view text = program.rest();
  std::int64_t value = 0;
  const bool is_value = parse_option_value(option, text, &value);
  check(!is_value || is_in_range(option, value), "a value lies in its option's range");
  Configuration options;
  check(options.set(option, text, "fuzz") == is_value, "what is a value can be set, and nothing else");
  check(options.value(option.id) == (is_value ? value : 0), "a value is what was set");
}

void parse_text(Program& program) {
  Configuration options;
  options.set_all(program.rest(), "fuzz");
  for (const OptionInfo& option : kOptionTable)
    check(options.value(option.id) == 0 || is_in_range(option, options.value(option.id)),
          "a value lies in its option's range");
}

std::string choose(Program& program, std::initializer_list<const char*> words) {
  return *std::next(words.begin(), static_cast<std::ptrdiff_t>(program.below(words.size())));
}

std::string choose_value(Program& program) {
  std::string value;
  for (std::size_t parts = 1 + program.below(3); parts != 0; --parts)
    value += choose(program, {"0", "1", "8", "64", "on", "no", "K", "M", "GiB", "B", "ms", "s", "default",
                              "stepped", "auto", "9999999999", "-"});
  return value;
}

void parse_pairs(Program& program) {
  std::string text;
  std::int64_t expected[kOptionCount] = {};
  while (!program.is_over() && text.size() < 4096) {
    const OptionInfo& option = kOptionTable[program.below(kOptionCount)];
    if (option.kind == OptionKind::kPath) continue;
    const std::string value = choose_value(program);
    std::int64_t number = 0;
    if (parse_option_value(option, value, &number)) expected[static_cast<std::size_t>(option.id)] = number;
    text += choose(program, {"", " ", "\t", ",", "\n", "# check:1, x\n"}) + option.key;
    text += choose(program, {":", "=", " : ", "= "}) + value;
    text += choose(program, {",", "\n", " ,", "#classes:stepped,\n", "\r\n"});
  }
  Configuration options;
  options.set_all(text, "fuzz");
  for (const OptionInfo& option : kOptionTable)
    check(options.value(option.id) == expected[static_cast<std::size_t>(option.id)],
          "each pair has the effect of its own text");
}

/// A text as C knows it.
std::string choose_text(Program& program) {
  std::string text;
  for (std::size_t length = program.below(16); length != 0; --length)
    if (const unsigned byte = program.byte(); byte != 0) text += static_cast<char>(byte);
  return text;
}

std::string value_of(const OptionInfo& option) {
  char text[600];
  check(tarn::option(option.key, text) >= 0, "each option has a value");
  return text;
}

void set_one(Program& program, const OptionInfo& option) {
  const std::string value = program.flag() ? choose_text(program) : choose_value(program);
  const std::string before = value_of(option);
  std::int64_t number = 0, read = 0;
  const bool is_value = parse_option_value(option, value, &number);
  const OptionResult expected = option.change == OptionChange::kAtStart ? OptionResult::kTooLate
                                : is_value                              ? OptionResult::kSet
                                                                        : OptionResult::kBadValue;
  check(tarn::set_option(option.key, value.c_str()) == expected, "the result tells what became of a value");
  const std::string after = value_of(option);
  check(expected == OptionResult::kSet || after == before, "what is refused changes nothing");
  check(parse_option_value(option, after, &read), "what is told can be set");
  check(expected != OptionResult::kSet || read == number, "a value is what was set");
}

// The library runs, and allocates between the changes. At the end the values are those of the start.
void set_at_run_time(Program& program) {
  tarn::deallocate(tarn::allocate(100));
  std::string first[kOptionCount];
  for (std::size_t i = 0; i < kOptionCount; ++i) first[i] = value_of(kOptionTable[i]);
  while (!program.is_over()) {
    const OptionInfo& option = kOptionTable[program.below(kOptionCount)];
    if (option.kind != OptionKind::kPath) set_one(program, option);
    const std::string key = choose_text(program);
    check(
        (tarn::set_option(key.c_str(), "?") == OptionResult::kUnknownOption) == (find_option(key) == nullptr),
        "a key is an option's or unknown");
    tarn::deallocate(tarn::allocate(program.below(1 << 20)));
  }
  for (std::size_t i = 0; i < kOptionCount; ++i) tarn::set_option(kOptionTable[i].key, first[i].c_str());
  check_invariants();
}

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::Program program(data, size);
  const unsigned kind = program.byte();
  if (kind >= 192) return tarn::fuzz::set_at_run_time(program), 0;
  switch (kind % 3) {
    case 0:
      tarn::fuzz::parse_value(program);
      break;
    case 1:
      tarn::fuzz::parse_text(program);
      break;
    default:
      tarn::fuzz::parse_pairs(program);
  }
  return 0;
}
