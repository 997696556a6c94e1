#include "observer/files/kernel_text.h"

#include <unistd.h>

#include <charconv>

#include "observer/files/input_file.h"
#include "observer/text/printable.h"

namespace tarn::observer {

std::optional<std::string> read_kernel_text(const std::string& path, int directory) {
  return read_kernel_text(InputFile(path, 0, directory));
}

std::optional<std::string> read_kernel_text(const InputFile& file) {
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

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// The kernel cuts the name after 15 characters; the file's name has all of it, where that is what was run.
std::string program_name(int directory) {
  std::string name = read_kernel_text("comm", directory).value_or("");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  char path[4096];
  const ssize_t length = readlinkat(directory, "exe", path, sizeof path);
  std::string file = base_name({path, length > 0 ? static_cast<std::size_t>(length) : 0});
  if (constexpr std::string_view kNote = " (deleted)"; file.ends_with(kNote))  // replaced by an update
    file.resize(file.size() - kNote.size());
  return printable(name.size() == 15 && file.starts_with(name) ? file : name);
}

}  // namespace tarn::observer
