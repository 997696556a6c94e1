#include "kernel_text.h"

#include <charconv>

#include "input_file.h"

namespace tarn::observer {

std::optional<std::string> read_kernel_text(const std::string& path, int directory) {
  const InputFile file(path, 0, directory);
  if (!file.is_open()) return std::nullopt;
  std::string text;
  // Small first reads: a text about a process is made anew for each, and most are short.
  for (std::size_t room = 4096;; room = room < (1 << 20) ? room * 4 : room) {
    const std::size_t before = text.size();
    text.resize(before + room);
    const std::size_t part = file.read(before, text.data() + before, room);
    text.resize(before + part);
    if (part < room) return text;
  }
}

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t length = text.find('\n');
  line = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return true;
}

std::string_view field_of(std::string_view text, std::string_view label) {
  std::string_view line;
  while (take_line(text, line)) {
    if (!line.starts_with(label)) continue;
    line.remove_prefix(label.size());
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : line.substr(first, last + 1 - first);
  }
  return {};
}

std::uint64_t number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

std::uint64_t bytes_of(std::string_view text, std::string_view label) {
  return number_in(field_of(text, label)) * 1024;
}

std::string printable(std::string_view name) {
  std::string text(name);
  for (char& character : text)
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = '?';
  return text;
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace tarn::observer
