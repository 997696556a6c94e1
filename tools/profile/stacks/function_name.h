// Names of functions as a demangler writes them, taken apart.
//
// The idea: in "void tarn::take<int>(std::vector<int>) const" only the name before the parameters tells where
// a function belongs, and result, template arguments and parameters may name any other namespace.
#pragma once
#include <string_view>

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

/// The name without its spaces and template arguments: "allocate" of "app::Pool<int>::allocate(int)".
std::string_view last_name(std::string_view function);

}  // namespace tarn::profile
