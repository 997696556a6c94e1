#include "proto_writer.h"

namespace tarn::profile {
namespace {

constexpr std::uint64_t kVarint = 0, kLengthDelimited = 2;

}  // namespace

void ProtoWriter::add_varint(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

void ProtoWriter::add_number(unsigned field, std::uint64_t number) {
  if (number == 0) return;
  add_varint(std::uint64_t{field} << 3 | kVarint);
  add_varint(number);
}

void ProtoWriter::add_text(unsigned field, std::string_view text) {
  add_varint(std::uint64_t{field} << 3 | kLengthDelimited);
  add_varint(text.size());
  bytes_ += text;
}

void ProtoWriter::add_numbers(unsigned field, const std::vector<std::uint64_t>& numbers) {
  ProtoWriter packed;
  for (const std::uint64_t number : numbers) packed.add_varint(number);
  add_text(field, packed.bytes_);
}

}  // namespace tarn::profile
