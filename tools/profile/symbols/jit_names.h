// Names of code that a program has made while it ran, as compilers for Java, JavaScript and others write them
// for perf: lines "START SIZE NAME", in hexadecimal, of /tmp/perf-PID.map.
//
// Threads: constant once read; any.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observer/files/input_file.h"

namespace tarn::profile {

class JitNames {
 public:
  JitNames() = default;
  /// Lines that are none are left out, and what is behind 64 MiB.
  explicit JitNames(const observer::InputFile& file);

  /// Of code that was made again at an address, the last name.
  std::optional<std::string> name_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t start, end;
    std::size_t line;  // the later one is the newer one
    std::string name;
  };
  void add_line(std::string_view line);

  std::vector<Function> functions_;  // by start, and of one start the newest last
};

}  // namespace tarn::profile
