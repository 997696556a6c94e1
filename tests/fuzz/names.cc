// Any bytes as what a program calls itself, its pools, threads and functions, and as the file in which it
// names code that it has made: what is shown has nothing that a terminal obeys, and stays as it is when shown
// again.
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fuzz/program.h"
#include "observer/memory_file.h"
#include "observer/text/json_text.h"
#include "observer/text/printable.h"
#include "profile/names/function_name.h"
#include "profile/symbols/jit_names.h"

namespace tarn::fuzz {
namespace {

void show(const std::string& text) {
  constexpr std::size_t kMost = 200;
  const std::string shown = observer::printable(text, kMost), lines = observer::printable_lines(text);
  check(shown.size() <= kMost + std::strlen("…"), "a name is as long as asked for");
  check(observer::printable(shown, 2 * kMost) == shown, "what is shown may be shown");
  check(observer::printable_lines(lines) == lines, "what is shown of lines may be shown");
  const auto json = nlohmann::ordered_json::parse(observer::json_text({{text, text}}));
  check(json.begin().key() == observer::printable(text), "JSON has the name as it is shown");
  check(profile::qualified_name(shown).size() <= shown.size(), "a function's name is a part of it");
  static_cast<void>(profile::is_of_library(shown));
  static_cast<void>(profile::is_allocation_call(shown));
}

void name_code(const std::string& text) {
  static test::MemoryFile file("");
  file.write(text);
  check(file.is_written(), "the file is written");
  const profile::JitNames names{observer::InputFile(file.path())};
  for (const std::uint64_t address : {0x0ull, 0x1000ull, 0x1fffull, ~0ull})
    if (const std::optional<std::string> name = names.name_at(address)) show(*name);
}

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(tarn::fuzz::Program(data, size).rest());
  tarn::fuzz::show(text);
  tarn::fuzz::name_code(text);
  return 0;
}
