// The options parser: any text as the value of an option and as a file of options; and texts of pairs, as a
// file or TARN_CONF has them, against a model that knows what each was made of.
#include <initializer_list>
#include <iterator>
#include <string>

#include "base/option_parser.h"
#include "fuzz/program.h"
#include "general/configuration.h"

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
  check(options.set(option, text) == is_value, "what is a value can be set, and nothing else");
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

void parse_pairs(Program& program) {
  std::string text;
  std::int64_t expected[kOptionCount] = {};
  while (!program.is_over() && text.size() < 4096) {
    const OptionInfo& option = kOptionTable[program.below(kOptionCount)];
    if (option.kind == OptionKind::kPath) continue;
    std::string value;
    for (std::size_t parts = 1 + program.below(3); parts != 0; --parts)
      value += choose(program, {"0", "1", "8", "64", "on", "no", "K", "M", "GiB", "B", "ms", "s", "default",
                                "stepped", "auto", "9999999999", "-"});
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

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::Program program(data, size);
  switch (program.below(3)) {
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
