#include "profile/stacks/element_type.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "profile/names/function_name.h"

namespace tarn::profile {
namespace {

constexpr int kMostAllocators = 8;  // in one another
constexpr const char *kString = "std::string", *kCharacters = "char";

/// A class template of a library, and which of its arguments the memory that it asks for is of.
struct Holder {
  std::string_view base;
  std::size_t argument;
  std::string_view what = "";  // of it, where it is more than the object
};
// Of libstdc++ and libc++.
constexpr Holder kContainers[] = {{"vector", 0},
                                  {"_Vector_base", 0},
                                  {"deque", 0},
                                  {"_Deque_base", 0},
                                  {"basic_string", 0},
                                  {"list", 0, "list node of"},
                                  {"_List_base", 0, "list node of"},
                                  {"_Rb_tree", 1, "tree node of"},
                                  {"_Hashtable", 1, "hash node of"}};
constexpr Holder kContainersOfRust[] = {{"Vec", 0}, {"RawVec", 0}, {"Box", 0},
                                        {"Arc", 0}, {"Rc", 0},     {"RawTable", 0, "hash table of"}};
constexpr Holder kNodes[] = {{"_Rb_tree_node", 0, "tree node of"},  {"__tree_node", 0, "tree node of"},
                             {"_Hash_node", 0, "hash node of"},     {"__hash_node", 0, "hash node of"},
                             {"_List_node", 0, "list node of"},     {"__list_node", 0, "list node of"},
                             {"_Fwd_list_node", 0, "list node of"}, {"_Sp_counted_ptr_inplace", 0, "shared"},
                             {"__shared_ptr_emplace", 0, "shared"}, {"__value_type", 1}};
constexpr std::array<std::string_view, 5> kMakers = {"make_unique", "make_shared", "allocate_shared",
                                                     "make_unique_for_overwrite",
                                                     "make_shared_for_overwrite"};
// Of tarn's pools.
constexpr std::array<std::string_view, 4> kPools = {"ObjectPool", "SharedObjectPool", "HandlePool", "Ring"};

const Holder* holder_of(std::string_view base, std::span<const Holder> holders) {
  const auto found = std::ranges::find(holders, base, &Holder::base);
  return found == holders.end() ? nullptr : &*found;
}

bool is_allocator(std::string_view base) {
  return base.find("alloc") != base.npos || base.find("Alloc") != base.npos;
}

std::string with_what(const std::string& type, std::string_view what) {
  return what.empty() || type.empty() ? type : std::string(what).append(" ").append(type);
}

/// The type of which a class's allocator makes objects: nodes and allocators in it are taken off.
std::string object_type(std::string_view type, int depth = 0) {
  if (depth == kMostAllocators) return {};
  if (type.ends_with("_Hash_node_base*")) return "buckets of a hash table";
  const TemplateName name = template_name(name_parts(type).back());
  if (const Holder* const node = holder_of(name.base, kNodes);
      node != nullptr && node->argument < name.arguments.size())
    return with_what(object_type(name.arguments[node->argument], depth + 1), node->what);
  if (is_allocator(name.base) && !name.arguments.empty()) return object_type(name.arguments[0], depth + 1);
  return simple_type(type);
}

/// The innermost type counts; but characters are a string's where it asked for them.
void take_further_out(std::string& type, const std::string& further_out) {
  if (type.empty() || (type == kCharacters && further_out == kString)) type = further_out;
}

}  // namespace

std::string element_type_in(std::string_view function) {
  const std::vector<std::string_view> parts = name_parts(function);
  const TemplateName last = template_name(parts.back());
  if (std::ranges::find(kMakers, last.base) != kMakers.end() && !last.arguments.empty())
    return object_type(last.arguments[0]);
  // The innermost class template around the function.
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    const TemplateName scope = template_name(parts[i]);
    if (scope.arguments.empty()) continue;
    if (is_allocator(scope.base) || std::ranges::find(kPools, scope.base) != kPools.end())
      return object_type(scope.arguments[0]);
    if (scope.base == "basic_string" && scope.arguments[0] == "char") return kString;
    if (const Holder* const holder = holder_of(scope.base, kContainers);
        holder != nullptr && holder->argument < scope.arguments.size())
      return with_what(object_type(scope.arguments[holder->argument]), holder->what);
    // Older names of Rust's have "T" as it stands in the source.
    if (const Holder* const holder = holder_of(scope.base, kContainersOfRust);
        holder != nullptr && scope.arguments[0].size() > 1)
      return with_what(object_type(scope.arguments[0]), holder->what);
  }
  return {};
}

const ElementTypes::Part& ElementTypes::of(const Location& location) {
  const auto [entry, is_new] = parts_.try_emplace(&location);
  Part& part = entry->second;
  if (!is_new) return part;
  for (const Frame& frame : location.frames) {
    part.is_end = frame.role == FrameRole::kProgram && !is_of_namespace(frame.function, "tarn");
    if (part.is_end) {
      if (&frame == &location.frames.front()) part.makes = simple_type(frame.makes);
      return part;
    }
    take_further_out(part.type, element_type_in(frame.function));
  }
  return part;
}

std::string ElementTypes::of(const std::vector<const Location*>& locations, std::size_t allocators) {
  std::string type;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const Part& part = of(*locations[i]);
    take_further_out(type, part.type);
    if (i == allocators && i != 0 && type.empty()) type = part.makes;
    if ((part.is_end && i >= allocators) || (!type.empty() && type != kCharacters)) break;
  }
  return type;
}

}  // namespace tarn::profile
