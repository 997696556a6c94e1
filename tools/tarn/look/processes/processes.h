// The processes of this machine that run on tarn.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tarn::tool {

/// \returns 0 when the word is no number of a process.
int process_number(const std::string& word);

/// A process, by what /proc tells of it. The kernel keeps 15 characters of a name; `name` is that of the
/// executable where it begins with these.
struct ProcessName {
  int pid;
  std::string name;
};

/// Those that have the name (empty: any), but for this one and those of the kernel; by ascending numbers.
std::vector<ProcessName> processes_named(const std::string& name);

/// Of one of them; "" when it has ended.
std::string name_of_process(int pid);

/// Kernel threads and zombies have none.
bool has_memory(int pid);

/// Whether a process has tarn's note. Asked in a process of its own with a time limit.
enum class OnTarn : std::uint8_t { kYes, kNo, kUnknown };  // unknown: no right to look, or no answer
OnTarn is_on_tarn(int pid);

}  // namespace tarn::tool
