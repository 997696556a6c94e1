// Figures as a reader wants them: four significant digits, one unit for a whole column, thousands set apart.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "system/figures/measurement.h"

namespace tarn::tool {

/// The unit a column is written in.
struct Unit {
  const char* name;  // empty for counts
  double size;       // of one, in seconds, bytes or pieces
};

/// The unit in which the largest of a column's values reads well.
Unit unit_for(Quantity quantity, double largest);

/// The number alone, in that unit. Counts have their thousands set apart.
std::string format_in(Unit unit, double value);

std::string format_bytes(double bytes);           // "12.34 MiB"
std::string format_seconds(double seconds);       // "12.34 ms"
std::string format_count(std::uint64_t count);    // "1,234,567"
std::string format_percent(double percent);       // "1.2 %"
std::string format_seconds_left(double seconds);  // "1 min 20 s"

/// A command line that a shell would read back the same.
std::string format_command(const std::vector<std::string>& command);

/// "SIGSEGV (Segmentation fault)"
std::string format_signal(int signal_number);

/// Text broken between words into lines of at most `width` characters.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

}  // namespace tarn::tool
