// Digest of standard output, both ends of standard error.
#include "system/runs/captured_output.h"

#include <algorithm>

namespace tarn::tool {

void OutputDigest::append(std::string_view bytes) {
  std::uint64_t hash = hash_;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  hash_ = hash;
  byte_count_ += bytes.size();
  if (kept_.size() < most_kept_bytes_) kept_.append(bytes.substr(0, most_kept_bytes_ - kept_.size()));
}

bool OutputDigest::operator==(const OutputDigest& other) const {
  return hash_ == other.hash_ && byte_count_ == other.byte_count_;
}

std::optional<OutputDigest::Difference> OutputDigest::first_difference(const OutputDigest& other) const {
  if (*this == other) return std::nullopt;
  const std::size_t comparable = std::min(kept_.size(), other.kept_.size());
  const auto [mine, theirs] = std::mismatch(
      kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(comparable), other.kept_.begin());
  const std::size_t offset = static_cast<std::size_t>(mine - kept_.begin());
  const bool is_behind_kept = offset == most_kept_bytes_;
  return Difference{offset, !is_behind_kept};
}

void ErrorText::append(std::string_view bytes) {
  if (beginning_.size() < kKeptBytes) beginning_.append(bytes.substr(0, kKeptBytes - beginning_.size()));
  end_.append(bytes.substr(bytes.size() > kKeptBytes ? bytes.size() - kKeptBytes : 0));
  if (end_.size() > kKeptBytes) end_.erase(0, end_.size() - kKeptBytes);
}

std::vector<std::string> ErrorText::last_lines(std::size_t count) const {
  std::vector<std::string> lines(1);
  for (const char c : end_) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
  }
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  return lines;
}

}  // namespace tarn::tool
