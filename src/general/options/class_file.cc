#include "general/options/class_file.h"

#include "os/fatal.h"
#include "os/process/process.h"

namespace tarn::internal {
namespace {

void complain(const char* path, unsigned line, std::string_view what, std::string_view preset) {
  FixedText<1024> text;
  text.add("tarn: ").add(path);
  if (line != 0) text.add(':').add_decimal(line);
  text.add(": ").add(what).add("; the classes of '").add(preset).add("' serve\n");
  os::write_line(text.data(), text.length());
}

}  // namespace

bool read_class_file(const char* path, std::string_view preset, BlockSizes& sizes) {
  // As configuration.cc keeps its text.
  static char text[kLargestClassFile + 1];
  const long length = os::read_file(path, text, sizeof text);
  if (length < 0) return complain(path, 0, "cannot be read", preset), false;
  if (static_cast<std::size_t>(length) > kLargestClassFile)
    return complain(path, 0, "is larger than 8 KiB, which no table needs", preset), false;
  BlockSizesFault fault;
  if (read_block_sizes({text, static_cast<std::size_t>(length)}, sizes, fault)) return true;
  complain(path, fault.line, {fault.what.data(), fault.what.length()}, preset);
  return false;
}

}  // namespace tarn::internal
