// Rows in, JSON lines out; the peak of resident memory comes from /proc, which also lets a program reset it.
#include "session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tarn::bench {
namespace {

void reset_peak_rss() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, "5", 1);
  close(file);
}

/// Not ru_maxrss, which begins with the peak of the process that started this one.
long peak_rss_kib() {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return -1;
  text[length] = '\0';
  const char* const line = std::strstr(text, "VmHWM:");
  return line == nullptr ? -1 : std::strtol(line + std::strlen("VmHWM:"), nullptr, 10);
}

const char* cold_text(Temperature temperature) {
  return temperature == Temperature::kCold ? "true" : "false";
}

}  // namespace

RowName row_name(const char* format, ...) {
  RowName name;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(name.text, sizeof name.text, format, arguments);
  va_end(arguments);
  return name;
}

Extra extra_fields(const char* format, ...) {
  Extra extra;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(extra.text, sizeof extra.text, format, arguments);
  va_end(arguments);
  return extra;
}

bool Session::is_chosen(const RowName& name, Temperature temperature) const {
  return row_ == nullptr ? temperature == Temperature::kWarm : std::strcmp(row_, name.text) == 0;
}

bool Session::wants(const RowName& name, Temperature temperature) {
  if (mode_ == Mode::kList) {
    std::printf("{\"group\":\"%s\",\"row\":\"%s\",\"cold\":%s}\n", group_, name.text, cold_text(temperature));
    return false;
  }
  if (!is_chosen(name, temperature)) return false;
  reset_peak_rss();
  return true;
}

void Session::report(const RowName& name, double ns, std::uint64_t operations, Temperature temperature,
                     const Extra& extra) {
  if (!is_chosen(name, temperature)) return;
  std::printf(
      "{\"group\":\"%s\",\"row\":\"%s\",\"ns\":%.3f,\"operations\":%llu,\"peak_rss_kib\":%ld,\"cold\":%s%s}"
      "\n",
      group_, name.text, ns, static_cast<unsigned long long>(operations), peak_rss_kib(),
      cold_text(temperature), extra.text);
  std::fflush(stdout);
}

}  // namespace tarn::bench
