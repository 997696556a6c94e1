#include "profile/names/function_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace tarn::profile {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kConstFunction = " const::";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_word_at(std::string_view text, std::size_t at, std::string_view word) {
  if (text.substr(at, word.size()) != word || (at != 0 && is_of_word(text[at - 1]))) return false;
  return at + word.size() == text.size() || !is_of_word(text[at + word.size()]);
}

/// Behind the sign of an operator whose word ends at `at`: "()", "<<", "new", a type. \why signs hold
/// brackets.
std::size_t end_of_operator(std::string_view text, std::size_t at) {
  // Longer ones first: what follows may be template arguments.
  constexpr std::string_view kSigns[] = {
      "<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
      "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "()", "[]", ",",
      "+",   "-",   "*",   "/",   "%",  "^",  "&",  "|",  "~",  "!",  "=",  "<",  ">"};
  const auto sign =
      std::ranges::find_if(kSigns, [&](std::string_view one) { return text.substr(at, one.size()) == one; });
  if (sign == std::end(kSigns)) return std::min(text.find('(', at), text.size());
  // A demangler writes a space between "<<" and the template's arguments.
  const std::size_t end = at + sign->size();
  return text.substr(end, 2) == " <" ? end + 1 : end;
}

/// Behind the bracket that closes the one at `at`.
std::size_t end_of_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '-' && text.substr(at, 2) == "->")
      ++at;
    else if (c == '>' || c == ')' || c == ']' || c == '}')
      --depth;
    if (depth == 0) return at + 1;
  }
  return at;
}

/// What stands behind the bracket at `at`, up to the one that closes it; of a name that was cut off, to its
/// end.
std::string_view within_brackets(std::string_view text, std::size_t at) {
  const std::size_t end = end_of_brackets(text, at);
  const bool is_closed = end > at + 1 && std::string_view(">)]}").find(text[end - 1]) != text.npos;
  return text.substr(at + 1, end - at - 1 - (is_closed ? 1 : 0));
}

/// Whether a ( opens parameters, and no part of a name such as "(anonymous namespace)" or
/// "f()::{lambda()#1}".
bool opens_parameters(std::string_view text, std::size_t at) {
  if (text.substr(at, kAnonymous.size()) == kAnonymous) return false;
  std::size_t end = end_of_brackets(text, at);
  if (text.substr(end, 6) == " const") end += 6;
  return text.substr(end, 2) != "::";
}

/// Of Rust's library: what allocates, and what is between that and a program's function.
bool is_of_rust_library(std::string_view function) {
  constexpr std::array<std::string_view, 18> kBeginnings = {"alloc::alloc::", "alloc::raw_vec::",
                                                            "alloc::vec::",   "alloc::string::",
                                                            "alloc::boxed::", "alloc::slice::",
                                                            "alloc::str::",   "alloc::collections::",
                                                            "alloc::sync::",  "alloc::rc::",
                                                            "alloc::fmt::",   "core::iter::",
                                                            "core::ops::",    "core::fmt::",
                                                            "core::array::",  "hashbrown::",
                                                            "__rust",         "__rdl_"};
  function.remove_prefix(std::min(function.find_first_not_of("<&"), function.size()));
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return function.starts_with(beginning); });
}

bool is_any_of(std::string_view text, const auto& names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

/// What stands between commas, outside of brackets, without blanks around it.
std::vector<std::string_view> arguments_in(std::string_view text) {
  std::vector<std::string_view> arguments;
  std::size_t start = 0, at = 0;
  const auto add = [&] {
    std::string_view argument = text.substr(start, at - start);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    argument = argument.substr(0, argument.find_last_not_of(' ') + 1);
    if (!argument.empty()) arguments.push_back(argument);
  };
  while (at < text.size()) {
    if (text[at] == ',') {
      add();
      start = ++at;
    } else if (std::string_view("<([{").find(text[at]) != text.npos) {
      at = std::min(end_of_brackets(text, at), text.size());
    } else {
      ++at;
    }
  }
  add();
  return arguments;
}

}  // namespace

std::string_view qualified_name(std::string_view function) {
  std::size_t start = 0, at = 0;
  while (at < function.size()) {
    if (is_word_at(function, at, kOperator)) {
      at = end_of_operator(function, at + kOperator.size());
    } else if (function.substr(at, kConstFunction.size()) == kConstFunction) {
      at += kConstFunction.size();
    } else if (function[at] == ' ') {
      start = ++at;
    } else if (function[at] == '(' && opens_parameters(function, at)) {
      break;
    } else if (function[at] == '(' || function[at] == '<' || function[at] == '{') {
      at = end_of_brackets(function, at);
    } else {
      ++at;
    }
  }
  return at == start ? function : function.substr(start, at - start);
}

bool is_of_namespace(std::string_view function, std::string_view space) {
  const std::string_view name = qualified_name(function);
  return name.starts_with(space) && name.substr(space.size()).starts_with("::");
}

bool is_of_library(std::string_view function) {
  constexpr std::array<std::string_view, 3> kSpaces = {"std", "__gnu_cxx", "__cxxabiv1"};
  return is_of_rust_library(function) ||
         std::any_of(kSpaces.begin(), kSpaces.end(),
                     [&](std::string_view space) { return is_of_namespace(function, space); });
}

bool is_allocation_call(std::string_view function) {
  constexpr std::array<std::string_view, 15> kNames = {
      "malloc",         "calloc",        "realloc",        "reallocarray",    "free",
      "cfree",          "aligned_alloc", "memalign",       "valloc",          "pvalloc",
      "posix_memalign", "operator new",  "operator new[]", "operator delete", "operator delete[]"};
  std::string_view name = qualified_name(function);
  name = name.substr(0, name.find('@'));  // the version of a symbol
  for (const std::string_view prefix : {"__libc_", "__GI___libc_", "__interceptor_", "__wrap_"})
    if (name.starts_with(prefix) && is_any_of(name.substr(prefix.size()), kNames)) return true;
  return is_any_of(name, kNames) || name.starts_with("tarn_");
}

std::vector<std::string_view> name_parts(std::string_view function) {
  const std::string_view name = qualified_name(function);
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t at = 0; at < name.size();) {
    if (is_word_at(name, at, kOperator)) break;
    if (name[at] == '(' || name[at] == '<' || name[at] == '{') {
      at = end_of_brackets(name, at);
    } else if (name.substr(at, 2) == "::") {
      parts.push_back(name.substr(start, at - start));
      start = at += 2;
    } else {
      ++at;
    }
  }
  parts.push_back(name.substr(start));
  return parts;
}

TemplateName template_name(std::string_view part) {
  const std::size_t open = part.find_first_of("<({");
  if (is_word_at(part, 0, kOperator) || open == 0 || open == part.npos || part[open] != '<') return {part};
  return {part.substr(0, open), arguments_in(within_brackets(part, open))};
}

std::string_view last_name(std::string_view function) {
  const std::string_view last = name_parts(function).back();
  return template_name(last).base;
}

namespace {

constexpr int kDeepestType = 32;

/// What the standard's templates have where a program gives nothing.
bool is_standard_argument(std::string_view argument) {
  constexpr std::array<std::string_view, 7> kBeginnings = {
      "std::allocator<", "std::less<",        "std::hash<",          "std::equal_to<",
      "std::greater<",   "std::char_traits<", "std::default_delete<"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return argument.starts_with(beginning); });
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string simple_type_in(std::string_view type, int depth) {
  std::string text;
  for (std::size_t at = 0; at < type.size();) {
    if (type[at] != '<' || depth == kDeepestType) {
      text += type[at++];
      continue;
    }
    std::string arguments;
    for (const std::string_view argument : arguments_in(within_brackets(type, at)))
      if (arguments.empty() || !is_standard_argument(argument))
        arguments += (arguments.empty() ? "" : ", ") + simple_type_in(argument, depth + 1);
    text += "<" + arguments + ">";
    at = end_of_brackets(type, at);
  }
  return text;
}

}  // namespace

std::string simple_type(std::string_view type) {
  std::string all(type);
  for (const std::string_view unsaid : {"__cxx11::", "__1::", "(anonymous namespace)::"})
    replace_all(all, unsaid, "");
  std::string text = simple_type_in(all, 0);
  replace_all(text, "std::basic_string<char>", "std::string");
  replace_all(text, "std::basic_string_view<char>", "std::string_view");
  return text;
}

std::string short_name(std::string_view function) {
  constexpr std::size_t kLongestArguments = 24;
  // Only what a demangler wrote is taken apart: no names of C, Go or code made at run time, "[no stack]".
  const bool is_taken_apart = function.find("::") != function.npos || function.find('(') != function.npos;
  if (!is_taken_apart || function.starts_with("[") || function.find(".(") != function.npos)
    return std::string(function);
  std::string text;
  for (const std::string_view part : name_parts(function)) {
    if (part == "__cxx11" || part == "__1" || part == kAnonymous) continue;
    if (!text.empty()) text += "::";
    const TemplateName name = template_name(part);
    text += name.base;
    if (name.arguments.empty()) continue;
    const std::string arguments = simple_type(part.substr(name.base.size()));
    text += arguments.size() <= kLongestArguments ? arguments : "<…>";
  }
  replace_all(text, "std::basic_string<char>", "std::string");
  replace_all(text, "[abi:cxx11]", "");
  return text.empty() ? std::string(function) : text;
}

std::string class_constructed_by(std::string_view function) {
  const std::vector<std::string_view> parts = name_parts(function);
  if (parts.size() < 2 || template_name(parts[parts.size() - 2]).base != template_name(parts.back()).base)
    return {};
  return std::string(
      qualified_name(function).substr(0, parts.back().data() - 2 - qualified_name(function).data()));
}

std::string name_of(const std::string& function, NameForm form) {
  return form == NameForm::kFull ? function : short_name(function);
}

bool is_wrapper(std::string_view function) {
  // As written: "globalLock" is none.
  constexpr std::array<std::string_view, 7> kParts = {"alloc",  "Alloc",  "ALLOC",  "strdup",
                                                      "Strdup", "StrDup", "strndup"};
  const std::string_view name = last_name(function);
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

}  // namespace tarn::profile
