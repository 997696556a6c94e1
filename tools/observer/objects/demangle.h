// Mangled names of C++ and of Rust (old and new), as another program's memory or file has them, in words.
//
// A short mangled name can stand for an endless one (each part may repeat all earlier ones): a name longer
// than 64 KiB is given up. Threads: any.
#pragma once
#include <optional>
#include <string>

namespace tarn::observer {

/// "vtable for Quest" of "_ZTV5Quest". \returns nothing for what is no mangled name of printable characters,
/// or for one that is too long.
std::optional<std::string> demangle(const std::string& mangled);

/// "Quest" of "5Quest", as a type_info has it.
std::optional<std::string> demangle_type(const std::string& mangled);

/// "Quest" of "_ZTV5Quest"; nothing of what is no virtual table.
std::optional<std::string> demangle_class_of_table(const std::string& mangled);

}  // namespace tarn::observer
