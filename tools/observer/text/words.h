// Figures as the views' sentences say them: three significant digits and a unit, thousands set apart.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tarn::observer {

std::string bytes_in_words(std::uint64_t bytes);                 // "63.9 KiB"
std::string count_in_words(std::uint64_t count);                 // "1,365"
std::string percent_in_words(double part, double whole);         // "0.2 %"; "0 %" of nothing
std::string address_in_words(std::uint64_t address);             // "0x7f24b48d0000"
std::string counted(std::uint64_t count, std::string_view one);  // "1 pool", "2 pools"

}  // namespace tarn::observer
