// Names of classes from type_info.
#include "observer/objects/class_names.h"

#include <cstring>
#include <string_view>

#include "observer/objects/demangle.h"

namespace tarn::observer {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// "Quest" of "Quest, std::allocator<Quest>>...".
std::string_view first_argument(std::string_view arguments) {
  int depth = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (c == '<' || c == '(') ++depth;
    if (depth == 0 && (c == ',' || c == '>')) return arguments.substr(0, i);
    if (c == '>' || c == ')') --depth;
  }
  return arguments;
}

struct ControlBlock {
  std::string_view beginning, shown;
};
constexpr ControlBlock kControlBlocks[] = {
    {"std::_Sp_counted_ptr_inplace<", "shared "},     {"std::__1::__shared_ptr_emplace<", "shared "},
    {"std::_Sp_counted_ptr<", "count of "},           {"std::_Sp_counted_deleter<", "count of "},
    {"std::__1::__shared_ptr_pointer<", "count of "},
};

}  // namespace

std::string short_class_name(const std::string& name) {
  std::string text = name;
  for (const ControlBlock& block : kControlBlocks)
    if (name.starts_with(block.beginning)) {
      text = std::string(block.shown).append(first_argument(name.substr(block.beginning.size())));
      break;
    }
  replace_all(text, "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  replace_all(text, "std::__cxx11::", "std::");
  replace_all(text, " >", ">");
  return text;
}

ClassNames::ClassNames(const Source& source)
    : source_(source), modules_(source.mappings()), symbols_(source, modules_) {}

const std::string& ClassNames::name_of(Address table) {
  const auto [entry, is_new] = names_.try_emplace(table);
  if (is_new) entry->second = find_name(table);
  return entry->second;
}

std::string ClassNames::find_name(Address table) {
  if (!is_candidate(table)) return {};
  if (const std::optional<std::string> mangled = type_name_before(table))
    if (const std::optional<std::string> name = demangle_type(*mangled)) return *name;
  return symbols_.class_of_table(table);
}

/// \returns the mangled name, from the type_info that a virtual table names.
std::optional<std::string> ClassNames::type_name_before(Address table) {
  Address before[2];  // how far the whole object begins before this part of it, and its type_info
  Address type[2];    // a type_info: its own virtual table, its name
  if (!read_words(table - sizeof before, before) || before[0] != 0) return std::nullopt;
  if (!is_candidate(before[1]) || !read_words(before[1], type)) return std::nullopt;
  if (!is_table_of_class_types(type[0])) return std::nullopt;
  const std::string name = read_text(type[1]);
  // A star says that the name is to be compared by its address.
  return name.starts_with('*') ? name.substr(1) : name;
}

/// Whether it is the virtual table of __class_type_info, __si_class_type_info or __vmi_class_type_info.
bool ClassNames::is_table_of_class_types(Address table) {
  const auto [entry, is_new] = are_class_types_.try_emplace(table, false);
  if (!is_new) return entry->second;
  Address before[2], type[2];
  if (!is_candidate(table) || !read_words(table - sizeof before, before) || before[0] != 0) return false;
  if (!is_candidate(before[1]) || !read_words(before[1], type)) return false;
  const std::string name = read_text(type[1]);
  const bool is_one = name.starts_with("N10__cxxabiv1") && name.ends_with("class_type_infoE");
  return are_class_types_[table] = is_one;
}

bool ClassNames::read_words(Address address, Address (&words)[2]) {
  for (Address& word : words) {
    const Page* const page = page_at(address);
    if (page == nullptr || address % sizeof word != 0) return false;
    std::memcpy(&word, page->data() + address % kPageBytes, sizeof word);
    address += sizeof word;
  }
  return true;
}

/// \returns "" where there is no text that ends in time.
std::string ClassNames::read_text(Address address) {
  std::string text;
  while (modules_.contains(address)) {
    const Page* const page = page_at(address);
    if (page == nullptr) break;
    const std::size_t offset = address % kPageBytes;
    const char* const start = reinterpret_cast<const char*>(page->data()) + offset;
    const std::size_t length = strnlen(start, kPageBytes - offset);
    text.append(start, length);
    if (text.size() > kLongestName) break;
    if (length < kPageBytes - offset) return text;
    address += length;
  }
  return {};
}

const ClassNames::Page* ClassNames::page_at(Address address) {
  const auto [entry, is_new] = pages_.try_emplace(address / kPageBytes);
  std::optional<Page>& page = entry->second;
  if (is_new && !source_.read_all(address / kPageBytes * kPageBytes, page.emplace().data(), kPageBytes))
    page.reset();
  return page ? &*page : nullptr;
}

}  // namespace tarn::observer
