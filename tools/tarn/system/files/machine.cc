// What /proc, /sys and libc tell about the machine.
#include "system/files/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "observer/files/kernel_text.h"

namespace tarn::tool {
namespace {

std::string cpu_model() {
  const std::string processors = observer::read_kernel_text("/proc/cpuinfo").value_or("");
  if (const std::string_view model = observer::field_of(processors, "model name"); model.starts_with(": "))
    return std::string(model.substr(2));
  utsname name = {};
  uname(&name);
  return name.machine;
}

long usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : sysconf(_SC_NPROCESSORS_ONLN);
}

std::string huge_page_mode() {
  const auto modes = observer::first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::string_view mode = modes ? observer::chosen_word(*modes) : "";
  return mode.empty() ? "unknown" : std::string(mode);
}

std::string frequency_governor() {
  return observer::first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("unknown");
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
