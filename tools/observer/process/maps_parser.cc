#include "observer/process/maps_parser.h"

#include "observer/files/kernel_text.h"

namespace tarn::observer {
namespace {

std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

void note_field(MappingUse& use, std::string_view line) {
  if (line.starts_with("Rss:")) use.rss_bytes = bytes_of(line, "Rss:");
  if (line.starts_with("Swap:")) use.swap_bytes = bytes_of(line, "Swap:");
  if (line.starts_with("AnonHugePages:")) use.huge_bytes = bytes_of(line, "AnonHugePages:");
  if (line.starts_with("VmFlags:")) use.is_hugetlb = line.find(" ht") != std::string_view::npos;
}

}  // namespace

// 55d0c8a00000-55d0c8a21000 rw-p 00001000 fd:01 1234       /a path/with spaces
std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  if (!take_hexadecimal(line, '-', mapping.start) || !take_hexadecimal(line, ' ', mapping.end)) return {};
  const std::string_view rights = take_word(line);
  if (rights.size() != 4 || mapping.end <= mapping.start) return {};
  mapping.is_readable = rights[0] == 'r';
  mapping.is_writable = rights[1] == 'w';
  mapping.is_executable = rights[2] == 'x';
  mapping.is_shared = rights[3] == 's';
  if (!take_hexadecimal(line, ' ', mapping.offset)) return {};
  const std::string_view device = take_word(line), inode = take_word(line);
  if (device.empty() || inode.empty()) return {};
  mapping.path = line;
  return mapping;
}

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  std::string_view line;
  while (take_line(text, line))
    if (std::optional<Mapping> mapping = parse_mapping(line)) mappings.push_back(std::move(*mapping));
  sort_and_separate(mappings);
  return mappings;
}

std::vector<MappingUse> parse_smaps(std::string_view text) {
  std::vector<MappingUse> uses;
  std::string_view line;
  while (take_line(text, line)) {
    if (std::optional<Mapping> mapping = parse_mapping(line))
      uses.push_back(MappingUse{std::move(*mapping)});
    else if (!uses.empty())
      note_field(uses.back(), line);
  }
  return uses;
}

}  // namespace tarn::observer
