// The machine that figures were measured on: they mean little without it.
#pragma once
#include <string>

namespace tarn::tool {

struct Machine {
  std::string cpu_model;
  long core_count = 0;  // that this process may use
  long memory_bytes = 0;
  std::string kernel;
  std::string transparent_huge_pages;  // always, madvise, never
  std::string glibc_version;
  std::string frequency_governor;  // "unknown" in most virtual machines
  double load = 0;                 // mean number of runnable processes over the last minute
};

Machine describe_machine();

/// Date and time now, UTC, ISO 8601.
std::string current_date();

}  // namespace tarn::tool
