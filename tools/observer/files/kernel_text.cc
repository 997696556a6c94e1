#include "observer/files/kernel_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

std::optional<std::string> first_line_of(const std::string& path) {
  const std::string text = read_kernel_text(path).value_or("");
  std::string_view rest = text, line;
  return take_line(rest, line) ? std::optional<std::string>(line) : std::nullopt;
}

std::string process_text(int pid, const std::string& file) {
  return read_kernel_text(fmt::format("/proc/{}/{}", pid, file)).value_or("");
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

std::optional<std::uint64_t> known_number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::uint64_t number_in(std::string_view text, int base) { return known_number_in(text, base).value_or(0); }

std::optional<std::uint64_t> known_bytes_of(std::string_view text, std::string_view label) {
  const std::optional<std::uint64_t> kib = known_number_in(field_of(text, label));
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

bool take_hexadecimal(std::string_view& text, char separator, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == text.size() || *end != separator) return false;
  text.remove_prefix(length + 1);
  return true;
}

std::uint64_t bytes_of(std::string_view text, std::string_view label) {
  return known_bytes_of(text, label).value_or(0);
}

// \why behind the last bracket: the name, which is the second word, may hold blanks and brackets.
std::string_view word_of_stat(std::string_view text, int number) {
  constexpr int kName = 2;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return {};
  text.remove_prefix(name_end + 1);
  std::string_view word;
  for (int at = kName; at < number; ++at) {
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
  }
  return word;
}

bool tells_of_end(std::string_view stat) {
  const std::string_view state = word_of_stat(stat, 3);
  return state.empty() || state == "Z" || state == "X";
}

std::string_view chosen_word(std::string_view text) {
  const std::size_t open = text.find('['), close = text.find(']');
  return open == std::string_view::npos || close < open ? "" : text.substr(open + 1, close - open - 1);
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string executable_name(const std::string& link, int directory) {
  char path[4096];
  const ssize_t length = readlinkat(directory, link.c_str(), path, sizeof path);
  std::string file = base_name({path, length > 0 ? static_cast<std::size_t>(length) : 0});
  if (constexpr std::string_view kNote = " (deleted)"; file.ends_with(kNote))  // replaced by an update
    file.resize(file.size() - kNote.size());
  return file;
}

// The kernel cuts the name after 15 characters; the file's name has all of it, where that is what was run.
std::string program_name(int directory) {
  std::string name = read_kernel_text("comm", directory).value_or("");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  const std::string file = executable_name("exe", directory);
  return printable(name.size() == 15 && file.starts_with(name) ? file : name);
}

}  // namespace tarn::observer
