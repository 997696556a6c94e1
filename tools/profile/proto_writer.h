// Protocol buffers, as much as a profile needs: numbers, texts and messages, each behind its field's number.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::profile {

class ProtoWriter {
 public:
  /// Zeros are left out, as every reader takes what is missing for 0.
  void add_number(unsigned field, std::uint64_t number);
  void add_text(unsigned field, std::string_view text);
  void add_message(unsigned field, const ProtoWriter& message) { add_text(field, message.bytes_); }
  void add_numbers(unsigned field, const std::vector<std::uint64_t>& numbers);
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t number);

  std::string bytes_;
};

}  // namespace tarn::profile
