// The last column of a table: names of classes, as long as the reader's terminal is wide.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tarn::tool {

/// Characters of a line on standard output; SIZE_MAX where it is no terminal: names stay whole for grep.
std::size_t line_width();

/// What a group of blocks is called: its class, else the size of its blocks.
std::string block_kind_name(const std::string& class_name, std::uint64_t block_bytes);

}  // namespace tarn::tool
