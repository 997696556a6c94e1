// Finds the program a command line names and says whether an allocator can be preloaded into it at all: the
// loader ignores LD_PRELOAD without a word for statically linked programs and for those that run with other
// rights.
#pragma once
#include <cstdint>
#include <string>

namespace tarn::tool {

enum class ProgramState : std::uint8_t { kFound, kNotFound, kNotExecutable };

struct Program {
  ProgramState state = ProgramState::kNotFound;
  std::string path;
};

/// Looks a program up as the shell does: by path if the name has a slash, else along $PATH.
Program find_program(const std::string& name);
/// The same along another PATH.
Program find_program(const std::string& name, const std::string& search_path);

/// Why no library can be preloaded into the file (or into the interpreter its first line names); empty if one
/// can.
std::string why_not_preloadable(const std::string& path);

}  // namespace tarn::tool
