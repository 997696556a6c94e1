#include "profile/files/scoped_names.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>

#include "profile/files/elf_functions.h"

namespace tarn::profile {
namespace {

std::optional<std::string> text_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return std::nullopt;
  const char* const text = dwarf_formstring(&attribute);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

/// Where a function is declared: within its namespace and class.
Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int kMostSteps = 4;
  Dwarf_Attribute attribute;
  Dwarf_Die next;
  for (int step = 0; step < kMostSteps; ++step) {
    if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr)
      break;
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

bool is_named_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_subprogram;
}

/// As a demangler writes it. What has no name and functions is the class of a lambda, nearly always.
std::string name_of_scope(Dwarf_Die& die) {
  std::string name = text_of(die, DW_AT_name).value_or("");
  if (!name.empty()) return name;
  return dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)" : "{lambda}";
}

}  // namespace

namespace {

using Names = std::unordered_map<const void*, std::string>;

/// What a walk through a unit has met. Names that are kept are those of functions without a linkage name.
struct Walk {
  Names declared;
  Names* kept;
  std::size_t left = std::size_t{1} << 22;  // steps, as debug information may be forged
};

void add_names(Dwarf_Die& scope, const std::string& prefix, int depth, Walk& walk) {
  constexpr std::size_t kLongestName = 1024, kBytesOfAStep = 64;
  Dwarf_Die child;
  if (depth == kDeepestScope || dwarf_child(&scope, &child) != 0) return;
  do {
    if (walk.left == 0) return;
    --walk.left;
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_lexical_block) add_names(child, prefix, depth + 1, walk);
    if (!is_named_scope(tag)) continue;
    std::string name = (prefix + name_of_scope(child)).substr(0, kLongestName);
    walk.left -= std::min(walk.left, name.size() / kBytesOfAStep);
    // Defined outside of its class: what is within it is within that too.
    const Dwarf_Die declaration = declaration_of(child);
    const auto declared = walk.declared.find(declaration.addr);
    if (declaration.addr != child.addr && declared != walk.declared.end()) name = declared->second;
    if (declaration.addr == child.addr && !prefix.empty()) {
      if (dwarf_hasattr(&child, DW_AT_declaration) != 0) walk.declared.try_emplace(child.addr, name);
      if (tag == DW_TAG_subprogram && dwarf_hasattr(&child, DW_AT_linkage_name) == 0)
        walk.kept->try_emplace(child.addr, name);
    }
    add_names(child, name + "::", depth + 1, walk);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

std::string ScopedNames::function_of(Dwarf_Die& die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const std::optional<std::string> text = text_of(die, name)) return name_in_words(*text);
  const std::optional<std::string> name = text_of(die, DW_AT_name);
  Dwarf_Die declaration = declaration_of(die), unit;
  if (!name || dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr) return name.value_or("");
  const auto [names, is_new] = units_.try_emplace(unit.addr);
  if (is_new) {
    Walk walk{.declared = {}, .kept = &names->second};
    add_names(unit, "", 0, walk);
  }
  const auto found = names->second.find(declaration.addr);
  return found != names->second.end() ? found->second : *name;
}

}  // namespace tarn::profile
