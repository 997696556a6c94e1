// Bytes that can be found wherever the process has a copy of them.
//
// The test itself keeps them only in another form, so that what it finds are copies by the code under test.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tarn::test {

class Secret {
 public:
  static constexpr std::size_t kBytes = 16;

  /// Secrets of different numbers have no bytes of each other's in common places.
  explicit Secret(std::uint64_t number);

  /// Fills memory with copies of the secret, one behind the other. \pre at least kBytes.
  void write(void* memory, std::size_t bytes) const;
  /// \returns whether memory begins with the secret.
  bool is_at(const void* memory) const;
  /// \returns how many copies all memory of the process holds that is backed and may be read.
  std::size_t count_in_process() const;
  /// The secret in its other form, for another program: each byte, with its bits inverted, as two digits.
  std::string inverted() const;

 private:
  static unsigned char revealed(unsigned char hidden) { return static_cast<unsigned char>(~hidden); }

  unsigned char hidden_[kBytes];
};

}  // namespace tarn::test
