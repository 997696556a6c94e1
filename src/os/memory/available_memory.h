// How much memory the system could give at most, as far as it tells: what is taken ahead of need asks first,
// since the kernel grants more than there is and ends processes when it is touched.
#pragma once
#include <cstddef>

namespace tarn::internal::os {

/// \returns bytes: the least of the limits of addresses and of data, of what is free or easily freed in
/// memory and swap, and of the limit of the process's control group. SIZE_MAX where the program filters its
/// calls of the system. \cost some 50 us: it reads files
std::size_t available_bytes();

/// RLIMIT_DATA in bytes; SIZE_MAX: none, or unknown as above.
std::size_t data_limit();

}  // namespace tarn::internal::os
