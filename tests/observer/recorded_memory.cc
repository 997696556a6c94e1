#include "observer/recorded_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "observer/snapshot/snapshot.h"

namespace tarn::test {
namespace {

using observer::Address;
using observer::Mapping;

constexpr std::uint64_t kLineBytes = 64;

/// Remembers which lines of memory were read.
class Recorder final : public observer::Source {
 public:
  explicit Recorder(const observer::Source& program) : program_(program) {}

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    const std::size_t there = program_.read(address, into, bytes);
    for (Address line = address / kLineBytes; there != 0 && line <= (address + there - 1) / kLineBytes;
         ++line)
      lines_.insert(line);
    return there;
  }
  std::span<const Mapping> mappings() const override { return program_.mappings(); }
  observer::SourceKind kind() const override { return program_.kind(); }
  int pid() const override { return program_.pid(); }
  std::string program() const override { return program_.program(); }
  const std::set<Address>& lines() const { return lines_; }

 private:
  const observer::Source& program_;
  mutable std::set<Address> lines_;
};

class Writer {
 public:
  template <typename Number>
  void add(Number number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(const std::string& bytes) {
    add<std::uint32_t>(static_cast<std::uint32_t>(bytes.size()));
    text_ += bytes;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Stops the process at a file that ends too soon: it is committed with the tests.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  template <typename Number>
  Number take() {
    Number number;
    std::memcpy(&number, take_bytes(sizeof number).data(), sizeof number);
    return number;
  }
  std::string_view take_bytes(std::size_t count) {
    if (count > text_.size()) std::abort();
    const std::string_view bytes = text_.substr(0, count);
    text_.remove_prefix(count);
    return bytes;
  }
  bool is_over() const { return text_.empty(); }

 private:
  std::string_view text_;
};

/// Pairs of a number of zeros and of other bytes, which follow.
void add_packed(Writer& writer, const std::vector<std::byte>& bytes) {
  const auto next = [&](std::size_t from, bool is_zero) {
    const auto found = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(),
                                    [&](std::byte byte) { return (byte == std::byte{0}) == is_zero; });
    return static_cast<std::size_t>(found - bytes.begin());
  };
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t zeros_end = next(at, false), end = next(zeros_end, true);
    writer.add(static_cast<std::uint32_t>(zeros_end - at));
    writer.add(std::string(reinterpret_cast<const char*>(bytes.data()) + zeros_end, end - zeros_end));
    at = end;
  }
}

std::vector<std::byte> take_packed(Reader& reader, std::size_t count) {
  std::vector<std::byte> bytes;
  while (bytes.size() < count) {
    bytes.resize(bytes.size() + reader.take<std::uint32_t>());
    const std::string_view others = reader.take_bytes(reader.take<std::uint32_t>());
    for (const char character : others) bytes.push_back(static_cast<std::byte>(character));
  }
  return bytes;
}

}  // namespace

RecordedMemory::RecordedMemory(const observer::Source& program) {
  const Recorder recorder(program);
  static_cast<void>(observer::read_snapshot(recorder));
  for (auto line = recorder.lines().begin(); line != recorder.lines().end();) {
    const Address first = *line;
    Address end = first;
    while (line != recorder.lines().end() && *line == end) ++line, ++end;
    std::vector<std::byte> bytes((end - first) * kLineBytes);
    bytes.resize(program.read(first * kLineBytes, bytes.data(), bytes.size()));
    size_ += bytes.size();
    ranges_.emplace(first * kLineBytes, std::move(bytes));
  }
  for (const Mapping& mapping : program.mappings()) {
    const auto range = ranges_.lower_bound(mapping.start);
    if (range != ranges_.end() && mapping.contains(range->first)) mappings_.push_back(mapping);
  }
}

RecordedMemory::Ranges::const_iterator RecordedMemory::range_of(Address address) const {
  auto behind = ranges_.upper_bound(address);
  if (behind == ranges_.begin()) return ranges_.end();
  --behind;
  return address - behind->first < behind->second.size() ? behind : ranges_.end();
}

std::size_t RecordedMemory::read(Address address, void* into, std::size_t bytes) const {
  const auto range = range_of(address);
  if (range == ranges_.end()) return 0;
  const std::size_t offset = address - range->first;
  const std::size_t there = std::min(bytes, range->second.size() - offset);
  std::memcpy(into, range->second.data() + offset, there);
  return there;
}

Address RecordedMemory::address_of(std::size_t position) const {
  for (const auto& [start, bytes] : ranges_) {
    if (position < bytes.size()) return start + position;
    position -= bytes.size();
  }
  std::abort();
}

std::byte& RecordedMemory::at(std::size_t position) {
  const Address address = address_of(position);
  const auto range = range_of(address);
  return ranges_.at(range->first)[address - range->first];
}

void RecordedMemory::add(Address address, std::vector<std::byte> bytes) {
  size_ += bytes.size();
  Mapping mapping;
  mapping.start = address;
  mapping.end = address + bytes.size();
  mapping.is_readable = true;
  mapping.offset = 1;  // no file's first page
  mappings_.insert(std::ranges::upper_bound(mappings_, address, {}, &Mapping::start), mapping);
  ranges_.emplace(address, std::move(bytes));
}

std::string RecordedMemory::file() const {
  Writer writer;
  writer.add(static_cast<std::uint32_t>(mappings_.size()));
  for (const Mapping& mapping : mappings_) {
    writer.add(mapping.start);
    writer.add(mapping.end);
    writer.add(mapping.offset);
    writer.add(static_cast<std::uint8_t>(mapping.is_writable));
    writer.add(mapping.path.substr(mapping.path.rfind('/') + 1));
  }
  for (const auto& [start, bytes] : ranges_) {
    writer.add(start);
    writer.add(std::uint64_t{bytes.size()});
    add_packed(writer, bytes);
  }
  return writer.text();
}

RecordedMemory RecordedMemory::parse(std::string_view file) {
  Reader reader(file);
  RecordedMemory memory;
  for (auto left = reader.take<std::uint32_t>(); left > 0; --left) {
    Mapping mapping;
    mapping.start = reader.take<Address>();
    mapping.end = reader.take<Address>();
    mapping.offset = reader.take<std::uint64_t>();
    mapping.is_readable = true;
    mapping.is_writable = reader.take<std::uint8_t>() != 0;
    mapping.path = reader.take_bytes(reader.take<std::uint32_t>());
    memory.mappings_.push_back(mapping);
  }
  while (!reader.is_over()) {
    const auto start = reader.take<Address>();
    const auto count = reader.take<std::uint64_t>();
    memory.ranges_.emplace(start, take_packed(reader, count));
    memory.size_ += count;
  }
  return memory;
}

}  // namespace tarn::test
