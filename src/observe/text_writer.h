// Text of any length for a file or for a function of the program's: gathered in a small buffer, which is
// passed on when it is full. Nothing here allocates.
//
// Threads: one. No lock is held while the sink runs, unless the caller holds one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace tarn::internal {

class TextWriter {
 public:
  using Sink = void (*)(const char* text, std::size_t bytes, void* context);

  TextWriter(Sink sink, void* context) : sink_(sink), context_(context) {}
  ~TextWriter() { flush(); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  TextWriter& add(char character) {
    if (text_.length() == kBufferBytes) flush();
    text_.add(character);
    return *this;
  }
  TextWriter& add(std::string_view string) {
    for (const char character : string) add(character);
    return *this;
  }
  TextWriter& add_decimal(std::uint64_t value);

  /// What stands between the quotes of a string in JSON (RFC 8259) or of a label in Prometheus' text format:
  /// what may not be shown becomes "?".
  TextWriter& add_escaped(const char* string);

  /// Passes on what is in the buffer.
  void flush();

 private:
  static constexpr std::size_t kBufferBytes = 1024;

  Sink sink_;
  void* context_;
  FixedText<kBufferBytes> text_;
};

/// The context of a sink that writes to a file; remembers a failed write.
class FileSink {
 public:
  explicit FileSink(int descriptor) : descriptor_(descriptor) {}
  static void write(const char* text, std::size_t bytes, void* sink);
  bool is_good() const { return error_ == 0; }
  int error() const { return error_; }  // as in errno

 private:
  int descriptor_;
  int error_ = 0;
};

}  // namespace tarn::internal
