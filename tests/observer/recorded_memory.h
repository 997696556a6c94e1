// The memory of a program as far as a snapshot of it needs: to be kept in a file, damaged and forged.
#pragma once
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "observer/process/source.h"

namespace tarn::test {

class RecordedMemory final : public observer::Source {
 public:
  /// Records what a snapshot of a program reads.
  explicit RecordedMemory(const observer::Source& program);
  /// From a file's content.
  static RecordedMemory parse(std::string_view file);
  std::string file() const;

  std::size_t read(observer::Address address, void* into, std::size_t bytes) const override;
  std::span<const observer::Mapping> mappings() const override { return mappings_; }
  observer::SourceKind kind() const override { return observer::SourceKind::kCore; }
  int pid() const override { return 4711; }
  std::string program() const override { return "recorded"; }

  /// All its bytes, one range behind the other.
  std::size_t size() const { return size_; }
  std::byte& at(std::size_t position);
  /// The range that a position lies in, and where in it.
  observer::Address address_of(std::size_t position) const;
  /// \pre the whole number was recorded.
  template <typename Number>
  void write(observer::Address address, const Number& number);
  /// More memory, at an address where there is none.
  void add(observer::Address address, std::vector<std::byte> bytes);

 private:
  RecordedMemory() = default;

  using Ranges = std::map<observer::Address, std::vector<std::byte>>;
  Ranges::const_iterator range_of(observer::Address address) const;

  Ranges ranges_;
  std::vector<observer::Mapping> mappings_;
  std::size_t size_ = 0;
};

template <typename Number>
void RecordedMemory::write(observer::Address address, const Number& number) {
  const auto range = range_of(address);
  std::memcpy(ranges_.at(range->first).data() + (address - range->first), &number, sizeof number);
}

}  // namespace tarn::test
