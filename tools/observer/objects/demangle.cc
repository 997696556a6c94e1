// Demangling with an end: GNU's demangler (libiberty) hands on its text in pieces, so that it can be stopped.
#include "observer/objects/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tarn::observer {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;

struct TooLong {};

void append_text(const char* text, std::size_t bytes, void* opaque) {
  auto& whole = *static_cast<std::string*>(opaque);
  if (whole.size() + bytes > kLongestText) throw TooLong();
  whole.append(text, bytes);
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<std::string> demangle_without(std::string_view words, const std::string& mangled) {
  const std::optional<std::string> text = demangle(mangled);
  if (!text || !text->starts_with(words)) return std::nullopt;
  return text->substr(words.size());
}

}  // namespace

std::optional<std::string> demangle(const std::string& mangled) {
  for (const auto demangle_as : {rust_demangle_callback, cplus_demangle_v3_callback}) {
    std::string text;
    try {
      if (demangle_as(mangled.c_str(), DMGL_PARAMS | DMGL_TYPES, append_text, &text) == 0) continue;
    } catch (const TooLong&) {
      return std::nullopt;
    }
    if (is_printable(text)) return text;
  }
  return std::nullopt;
}

std::optional<std::string> demangle_type(const std::string& mangled) {
  return demangle_without("typeinfo name for ", "_ZTS" + mangled);
}

std::optional<std::string> demangle_class_of_table(const std::string& mangled) {
  return demangle_without("vtable for ", mangled);
}

}  // namespace tarn::observer
