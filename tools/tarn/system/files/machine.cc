// What /proc, /sys and libc tell about the machine.
#include "system/files/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace tarn::tool {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname name = {};
  uname(&name);
  return name.machine;
}

long usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : sysconf(_SC_NPROCESSORS_ONLN);
}

/// The word in brackets of "always [madvise] never".
std::string huge_page_mode() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;)
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  return "unknown";
}

std::string frequency_governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string governor;
  return file >> governor ? governor : "unknown";
}

double load_of_last_minute() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string kernel() {
  utsname name = {};
  uname(&name);
  return std::string(name.sysname) + " " + name.release;
}

}  // namespace

Machine describe_machine() {
  return {.cpu_model = cpu_model(),
          .core_count = usable_cores(),
          .memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
          .kernel = kernel(),
          .transparent_huge_pages = huge_page_mode(),
          .glibc_version = gnu_get_libc_version(),
          .frequency_governor = frequency_governor(),
          .load = load_of_last_minute()};
}

std::string current_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[sizeof("2000-01-01T00:00:00Z") + 8];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace tarn::tool
