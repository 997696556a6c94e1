// A place in a program's text.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tarn::profile {

/// What a reader looks for in a stack: the program's own function that wanted memory.
enum class FrameRole : std::uint8_t {
  kProgram,
  kWrapper,  // a program's own form of malloc: what called it wanted the memory
  kLibrary,  // of the library of C++ or Rust
};

struct Frame {
  std::string function = {};  // in words; printable; never empty
  std::string file = {};      // "" = not known
  unsigned line = 0;          // 0 = not known
  bool is_inlined = false;
  FrameRole role = FrameRole::kProgram;
  std::string makes = {};  // the class whose constructor begins behind this call, as behind that of `new`; ""

  bool operator==(const Frame&) const = default;
};

/// What is known of an address: the function that holds it, and before it those that were inlined there.
struct Location {
  static constexpr std::size_t kNoModule = SIZE_MAX;

  std::uint64_t address = 0;
  std::size_t module = kNoModule;  // in HeapProfile::modules
  std::vector<Frame> frames;       // innermost first; never empty
  bool has_function = false;       // false: the frame is "module+0xoffset" or "0x..."
};

}  // namespace tarn::profile
