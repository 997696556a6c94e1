// Figures as text: three significant digits and a unit, thousands set apart. Columns of four digits are
// tarn/system/figures/format.h's.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tarn::observer {

// In sentences.
std::string bytes_in_words(std::uint64_t bytes);                 // "63.9 KiB"
std::string count_in_words(std::uint64_t count);                 // "1,365"
std::string percent_in_words(double part, double whole);         // "0.2 %"; "0 %" of nothing
std::string counted(std::uint64_t count, std::string_view one);  // "1 pool", "2 pools"

// In columns; and of estimates, which may be no whole numbers.
std::string three_digits(double number);                // "0.50", "64.0", "123"
std::string short_bytes(double bytes);                  // "980 B", "64.0 KiB"; "-12 B" of what became less
std::string change_in_bytes(double bytes);              // "+1.50 MiB", "-12 B"
std::string share_in_words(double part, double whole);  // "12.5 %"
std::string estimate_in_words(double count);            // "12,345", "-123"
std::string counted_estimate(double count, std::string_view one);  // "1 block", "12,345 blocks"

}  // namespace tarn::observer
