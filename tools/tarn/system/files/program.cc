// PATH lookup, and a look at the ELF headers and the rights of a program.
#include "system/files/program.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "observer/files/elf_headers.h"
#include "observer/files/input_file.h"

namespace tarn::tool {
namespace {

ProgramState state_of(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return ProgramState::kNotFound;
  if (!S_ISREG(info.st_mode) || access(path.c_str(), X_OK) != 0) return ProgramState::kNotExecutable;
  return ProgramState::kFound;
}

bool runs_with_other_rights(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid()) return true;
  if ((info.st_mode & S_ISGID) != 0 && info.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

/// Whether a 64-bit ELF file names no loader. Other formats are left to the loader to complain about.
bool is_static(const observer::InputFile& file) {
  const auto read = [&](std::uint64_t at, void* into, std::size_t bytes) {
    return file.read_all(at, into, bytes);
  };
  const auto headers = observer::elf_headers(read, UINT16_MAX);
  return headers && std::ranges::none_of(headers->segments, [](const Elf64_Phdr& segment) {
           return segment.p_type == PT_INTERP;
         });
}

/// The program that a `#!` line starts: its first word, or the second after env.
std::string interpreter_of(std::ifstream& file) {
  std::string line;
  file.seekg(2);
  std::getline(file, line);
  std::istringstream words(line);
  std::string interpreter, argument;
  words >> interpreter >> argument;
  if (!interpreter.ends_with("/env") || argument.empty() || argument.starts_with("-")) return interpreter;
  return find_program(argument).path;
}

std::string obstacle_to_preload(const std::string& path, int scripts_left) {
  if (runs_with_other_rights(path))
    return path + " is set-uid or set-gid: the loader preloads nothing into it";
  std::ifstream file(path, std::ios::binary);
  char magic[2] = {};
  if (!file.read(magic, sizeof magic)) return {};
  if (std::memcmp(magic, "#!", sizeof magic) == 0)
    return scripts_left > 0 ? obstacle_to_preload(interpreter_of(file), scripts_left - 1) : std::string();
  if (is_static(observer::InputFile(path)))
    return path + " is statically linked: nothing can be preloaded into it";
  return {};
}

}  // namespace

Program find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  return find_program(name, path != nullptr ? path : "/bin:/usr/bin");
}

Program find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return {state_of(name), name};
  std::istringstream directories(search_path);
  Program best;
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    const ProgramState state = state_of(candidate);
    if (state == ProgramState::kFound) return {state, candidate};
    if (state == ProgramState::kNotExecutable) best = {state, candidate};
  }
  return best;
}

std::string why_not_preloadable(const std::string& path) {
  constexpr int kMostScripts = 4;  // as the kernel
  return obstacle_to_preload(path, kMostScripts);
}

}  // namespace tarn::tool
