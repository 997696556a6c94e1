#include "tune/size_histogram.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

namespace tarn::tune {
namespace {

constexpr std::string_view kSpaces = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  for (;;) {
    const std::size_t start = line.find_first_not_of(kSpaces);
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    words.push_back(line.substr(0, line.find_first_of(kSpaces)));
    line.remove_prefix(words.back().size());
  }
}

std::uint64_t read_number(std::string_view word, unsigned line) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    throw BadInput(fmt::format("line {} is not 'size count', two numbers", line));
  return number;
}

void add_line(SizeHistogram& histogram, std::string_view text, unsigned line) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return;
  if (words.size() != 2) throw BadInput(fmt::format("line {} is not 'size count', two numbers", line));
  histogram.add(read_number(words[0], line), read_number(words[1], line));
}

SizeHistogram read_lines(std::string_view text) {
  SizeHistogram histogram;
  for (unsigned line = 1; !text.empty(); ++line) {
    const std::size_t length = text.find('\n');
    add_line(histogram, text.substr(0, length), line);
    text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  }
  return histogram;
}

std::uint64_t number_in(const nlohmann::json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_unsigned())
    throw BadInput(fmt::format("an entry of \"live_sizes\" has no number \"{}\"", key));
  return found->get<std::uint64_t>();
}

SizeHistogram read_json(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw BadInput("is no JSON");
  const auto sizes = json.find("live_sizes");
  if (sizes == json.end() || !sizes->is_array()) throw BadInput("is JSON without a list \"live_sizes\"");
  SizeHistogram histogram;
  for (const nlohmann::json& entry : *sizes) {
    const std::uint64_t size = number_in(entry, "size");
    histogram.add(size, number_in(entry, "count"));
  }
  return histogram;
}

}  // namespace

void SizeHistogram::add(std::uint64_t size, std::uint64_t count) {
  if (count == 0) return;
  const std::uint64_t bytes = size == 0 ? 1 : size;
  if (count > (kMostBytes - bytes_) / bytes)
    throw BadInput("has blocks of more than 1 PiB together, which no program holds");
  counts_[bytes] += count;
  bytes_ += bytes * count;
}

SizeHistogram read_histogram(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool is_json = start != std::string_view::npos && text[start] == '{';
  SizeHistogram histogram = is_json ? read_json(text) : read_lines(text);
  if (histogram.is_empty()) throw BadInput("has no block");
  return histogram;
}

}  // namespace tarn::tune
