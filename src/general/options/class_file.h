// Reads the file of size classes that the option `classes_file` names. A file that is no table (see
// central/classes/block_sizes.h) costs one line on standard error, and nothing of it is used.
//
// Threads: under the set-up's mutex, before the first block. Nothing here allocates.
#pragma once
#include "central/classes/block_sizes.h"

namespace tarn::internal {

inline constexpr std::size_t kLargestClassFile = 8 * 1024;  // bytes

/// \param preset the name of the classes that serve when the file is refused. \returns whether it is a table.
bool read_class_file(const char* path, std::string_view preset, BlockSizes& sizes);

}  // namespace tarn::internal
