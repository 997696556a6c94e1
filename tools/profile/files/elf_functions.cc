#include "profile/files/elf_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

#include "observer/objects/demangle.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kLongestSymbol = 4096;  // all names of a file may lie in each other

bool is_function(const GElf_Sym& symbol) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

}  // namespace

std::string name_in_words(const std::string& name) {
  // What is behind a point is the compiler's: ".cold", ".part.0", ".llvm.123". Rust's older names have points
  // before their hash too.
  const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
  const std::size_t hash = std::min(name.rfind("17h"), name.size());
  const std::size_t first = hash + std::string_view("17h0123456789abcdefE").size() <= name.size() ? hash : 0;
  const std::string mangled = name.substr(0, is_mangled ? name.find('.', first) : std::string::npos);
  return observer::demangle(mangled).value_or(name);
}

ElfFunctions::ElfFunctions(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr start = 0;
    const char* const name = dwfl_module_getsym_info(module, i, &symbol, &start, nullptr, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || !is_function(symbol)) continue;
    functions_.push_back({start, start + std::min(symbol.st_size, UINT64_MAX - start),
                          std::string(name, strnlen(name, kLongestSymbol))});
  }
  // Of several names of one address the shortest, which is how programs write it: "malloc", not "__malloc".
  std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
    return std::forward_as_tuple(a.start, a.name.size(), a.name) <
           std::forward_as_tuple(b.start, b.name.size(), b.name);
  });
  const auto has_same_start = [](const Function& a, const Function& b) { return a.start == b.start; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), has_same_start), functions_.end());
}

std::optional<std::string> ElfFunctions::name_at(std::uint64_t address) const {
  const auto behind =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t a, const Function& function) { return a < function.start; });
  if (behind == functions_.begin()) return std::nullopt;
  const Function& function = behind[-1];
  if (function.end != function.start && address >= function.end) return std::nullopt;
  return name_in_words(function.name);
}

}  // namespace tarn::profile
