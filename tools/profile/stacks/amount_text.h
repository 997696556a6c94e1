// Amounts for people: three digits and a unit.
#pragma once
#include <string>

namespace tarn::profile {

/// "1.50 MiB"; "-12 B" of what became less.
std::string bytes_text(double bytes);
/// "+1.50 MiB", "-12 B".
std::string change_text(double bytes);
/// "12,345".
std::string count_text(double count);
/// "1 block", "12,345 blocks".
std::string counted(double count, const std::string& word);
/// "12.5 %".
std::string share_text(double part, double whole);

}  // namespace tarn::profile
