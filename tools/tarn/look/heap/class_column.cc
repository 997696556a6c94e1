#include "look/heap/class_column.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "observer/objects/class_names.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kNarrowest = 80;
constexpr std::uint64_t kLargestSmall = std::uint64_t{32} << 10;

}  // namespace

std::size_t line_width() {
  return is_terminal(STDOUT_FILENO) ? std::max(columns_of(STDOUT_FILENO, kNarrowest), kNarrowest) : SIZE_MAX;
}

std::string block_kind_name(const std::string& class_name, std::uint64_t block_bytes) {
  if (!class_name.empty()) return observer::short_class_name(class_name);
  if (block_bytes <= kLargestSmall) return fmt::format("blocks of {} B", format_count(block_bytes));
  return fmt::format("blocks up to {}", format_bytes(static_cast<double>(block_bytes)));
}

}  // namespace tarn::tool
