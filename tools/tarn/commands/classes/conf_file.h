// A file of options, as TARN_CONF_FILE names it, looked at before a program is started with it. The library
// complains of a bad line and goes on; whoever names a file on the command line is told before.
#pragma once
#include <string>

namespace tarn::tool {

/// The file's absolute path. \why the program may be started elsewhere, or change its directory before the
/// library reads it
/// \throws UsageError if the file cannot be read, is larger than the library reads, has a key or a value that
/// is none, or names a file of size classes that is none
std::string checked_conf_file(const std::string& path);

/// Whether a path can stand in such a file as a value: nothing in it ends or separates pairs.
bool is_value_of_conf(const std::string& path);

}  // namespace tarn::tool
