// Names of functions as a demangler writes them, taken apart.
//
// The idea: in "void tarn::take<int>(std::vector<int>) const" only the name before the parameters tells where
// a function belongs, and result, template arguments and parameters may name any other namespace.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tarn::profile {

/// "tarn::take<int>" of "void tarn::take<int>(std::vector<int>) const".
std::string_view qualified_name(std::string_view function);

/// Whether the name begins with `space` and "::", also that of a lambda in a function of it.
bool is_of_namespace(std::string_view function, std::string_view space);

/// Whether a function belongs to the library of C++ (std, __gnu_cxx, __cxxabiv1) or of Rust.
bool is_of_library(std::string_view function);

/// Whether a function is one that programs call for memory: malloc and its family, operator new, or C calls
/// of this library.
bool is_allocation_call(std::string_view function);

/// Whether a function's name is one that programs give to their own forms of malloc: zmalloc, sqlite3Realloc,
/// MyAllocator::allocate, xstrdup. What called it is to be told instead.
bool is_wrapper(std::string_view function);

/// The qualified name from "::" to "::": "app", "Pool<int>", "allocate" of "app::Pool<int>::allocate(int)".
std::vector<std::string_view> name_parts(std::string_view function);

/// A part of a name, taken apart: "map" and "int", "app::Node" of "map<int, app::Node>".
struct TemplateName {
  std::string_view base;
  std::vector<std::string_view> arguments = {};
};
TemplateName template_name(std::string_view part);

/// The name without its spaces and template arguments: "allocate" of "app::Pool<int>::allocate(int)".
std::string_view last_name(std::string_view function);

/// "app::Node" of its constructor "app::Node::Node(int)"; "" of other functions.
std::string class_constructed_by(std::string_view function);

/// A type as people write it: "std::map<int, std::string>" of what a demangler makes of it, without the
/// arguments that are the standard's own.
std::string simple_type(std::string_view type);

/// A function as people write it, for a row: without result and parameters, and longer template arguments
/// left out.
std::string short_name(std::string_view function);

enum class NameForm : bool { kShort, kFull };
std::string name_of(const std::string& function, NameForm form);

}  // namespace tarn::profile
