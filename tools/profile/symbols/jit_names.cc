#include "profile/symbols/jit_names.h"

#include <algorithm>
#include <tuple>

#include "observer/files/kernel_text.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kMostJitBytes = std::size_t{64} << 20;
// Functions that start before an address and reach behind it lie close before it, as they do not overlap but
// where code was made again.
constexpr int kMostTries = 64;

}  // namespace

JitNames::JitNames(const observer::InputFile& file) {
  std::string text(std::min<std::uint64_t>(file.bytes(), kMostJitBytes), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    add_line(std::string_view(text).substr(at, end - at));
  }
  std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
    return std::tie(a.start, a.line) < std::tie(b.start, b.line);
  });
}

void JitNames::add_line(std::string_view line) {
  std::uint64_t start = 0, bytes = 0;
  if (!observer::take_hexadecimal(line, ' ', start) || !observer::take_hexadecimal(line, ' ', bytes) ||
      line.empty())
    return;
  functions_.push_back(
      {start, start + std::min(bytes, UINT64_MAX - start), functions_.size(), std::string(line)});
}

std::optional<std::string> JitNames::name_at(std::uint64_t address) const {
  auto at = std::upper_bound(functions_.begin(), functions_.end(), address,
                             [](std::uint64_t a, const Function& function) { return a < function.start; });
  const Function* newest = nullptr;
  for (int tries = 0; at != functions_.begin() && tries < kMostTries; ++tries) {
    --at;
    if (address < at->end && (newest == nullptr || at->line > newest->line)) newest = &*at;
  }
  return newest != nullptr ? std::optional(newest->name) : std::nullopt;
}

}  // namespace tarn::profile
