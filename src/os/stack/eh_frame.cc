#include "os/stack/eh_frame.h"

#include <cstring>

#include "base/units.h"

namespace tarn::internal::os {
namespace {

// DWARF's numbers of the registers of x86-64.
enum : std::uint64_t { kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16 };

// How a pointer is encoded: its format, and what it counts from.
enum : std::uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSleb = 0x09,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kFormat = 0x0f,
  kFromHere = 0x10,
  kFromData = 0x30,
  kBase = 0x70,
  kOmitted = 0xff
};

class Cursor {
 public:
  explicit Cursor(const std::uint8_t* at) : at_(at) {}
  const std::uint8_t* at() const { return at_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <typename T>
  T read() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const std::uint8_t byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  /// \returns 0 for what is 0, whatever it counts from.
  std::uint64_t pointer(std::uint8_t encoding) {
    const std::uint8_t* const start = at_;
    const std::uint64_t value = number(encoding & kFormat);
    return value != 0 && (encoding & kBase) == kFromHere ? value + address_of(start) : value;
  }

 private:
  // The default: udata8, sdata8, and DW_EH_PE_absptr, which is a pointer of 8 bytes here.
  std::uint64_t number(std::uint8_t format) {
    switch (format) {
      case kUleb:
        return uleb();
      case kUdata2:
        return read<std::uint16_t>();
      case kUdata4:
        return read<std::uint32_t>();
      case kSleb:
        return static_cast<std::uint64_t>(sleb());
      case kSdata2:
        return static_cast<std::uint64_t>(std::int64_t{read<std::int16_t>()});
      case kSdata4:
        return static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>()});
      default:
        return read<std::uint64_t>();
    }
  }

  const std::uint8_t* at_;
};

/// What the functions of one CIE have in common.
struct Common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointer_encoding = kAbsolute;
  bool has_augmentation = false;
  bool is_signal_frame = false;
  const std::uint8_t* instructions = nullptr;
  const std::uint8_t* end = nullptr;
};

struct Function {
  Common common;
  std::uint64_t start = 0, bytes = 0;
  const std::uint8_t* instructions = nullptr;
  const std::uint8_t* end = nullptr;
};

/// The state that call frame instructions change.
struct Frame {
  std::uint64_t base = kStackPointer;  // the register that the CFA counts from
  std::int64_t offset = 8;
  std::int64_t saved_offset = 0;  // of the frame pointer; 0: unchanged
  bool is_usable = true;          // no expression, no other register
  bool is_last = false;           // there is no return address
};

Common read_common(const std::uint8_t* cie) {
  Common common;
  Cursor at(cie);
  const auto length = at.read<std::uint32_t>();
  common.end = at.at() + length;
  at.skip(sizeof(std::uint32_t) + 1);  // its number, which is 0, and the version
  const char* const augmentation = reinterpret_cast<const char*>(at.at());
  at.skip(std::strlen(augmentation) + 1);
  common.code_factor = at.uleb();
  common.data_factor = at.sleb();
  at.uleb();  // the register of the return address
  if (augmentation[0] == 'z') {
    common.has_augmentation = true;
    const std::uint64_t bytes = at.uleb();
    const std::uint8_t* const behind = at.at() + bytes;
    for (const char* letter = augmentation + 1; *letter != 0; ++letter) {
      if (*letter == 'R') common.pointer_encoding = at.read<std::uint8_t>();
      if (*letter == 'L') at.skip(1);
      if (*letter == 'P') at.pointer(at.read<std::uint8_t>());
      if (*letter == 'S') common.is_signal_frame = true;
    }
    at = Cursor(behind);
  }
  common.instructions = at.at();
  return common;
}

Function read_function(const std::uint8_t* fde) {
  Function function;
  Cursor at(fde);
  const auto length = at.read<std::uint32_t>();
  // The end of the section, or an entry of more than 4 GiB, which no linker writes: of no function.
  if (length == 0 || length == UINT32_MAX) return function;
  function.end = at.at() + length;
  const std::uint8_t* const distance_at = at.at();
  function.common = read_common(distance_at - at.read<std::uint32_t>());
  function.start = at.pointer(function.common.pointer_encoding);
  function.bytes = at.pointer(function.common.pointer_encoding & kFormat);
  if (function.common.has_augmentation) {
    const std::uint64_t bytes = at.uleb();
    at.skip(bytes);
  }
  function.instructions = at.at();
  return function;
}

/// Runs call frame instructions up to an address.
class Interpreter {
 public:
  Interpreter(const Common& common, Frame& frame) : common_(common), frame_(frame), initial_(frame) {}

  /// \returns false when an instruction is unknown.
  bool run(const std::uint8_t* start, const std::uint8_t* end, std::uint64_t location, std::uint64_t until) {
    location_ = location;
    Cursor at(start);
    while (at.at() < end && location_ <= until) {
      const auto instruction = at.read<std::uint8_t>();
      const std::uint8_t low = instruction & 0x3f;
      switch (instruction >> 6) {
        case 1:
          location_ += low * common_.code_factor;
          break;  // advance_loc
        case 2:
          save(low, static_cast<std::int64_t>(at.uleb()));
          break;  // offset
        case 3:
          restore(low);
          break;  // restore
        default:
          if (!run_one(low, at)) return false;
      }
    }
    return true;
  }

 private:
  static constexpr unsigned kMostRemembered = 8;

  void save(std::uint64_t reg, std::int64_t factored) {
    if (reg == kFramePointer) frame_.saved_offset = factored * common_.data_factor;
  }
  void restore(std::uint64_t reg) {
    if (reg == kFramePointer) frame_.saved_offset = initial_.saved_offset;
  }
  void define(std::uint64_t base, std::int64_t offset) {
    frame_.base = base;
    frame_.offset = offset;
    frame_.is_usable = true;
  }
  void skip_expression(Cursor& at) {
    const std::uint64_t bytes = at.uleb();
    at.skip(bytes);
  }

  bool run_one(std::uint8_t instruction, Cursor& at) {
    switch (instruction) {
      case 0x00:
        return true;  // nop
      case 0x01:
        location_ = at.pointer(common_.pointer_encoding);
        return true;  // set_loc
      case 0x02:
        location_ += at.read<std::uint8_t>() * common_.code_factor;
        return true;
      case 0x03:
        location_ += at.read<std::uint16_t>() * common_.code_factor;
        return true;
      case 0x04:
        location_ += at.read<std::uint32_t>() * common_.code_factor;
        return true;
      case 0x0a:
        return remember();
      case 0x0b:
        return recall();
      case 0x0c: {
        const std::uint64_t base = at.uleb();
        define(base, static_cast<std::int64_t>(at.uleb()));
        return true;
      }
      case 0x0d:
        frame_.base = at.uleb();
        return true;
      case 0x0e:
        frame_.offset = static_cast<std::int64_t>(at.uleb());
        return true;
      case 0x0f:
        frame_.is_usable = false;
        skip_expression(at);
        return true;  // def_cfa_expression
      case 0x12: {
        const std::uint64_t base = at.uleb();
        define(base, at.sleb() * common_.data_factor);
        return true;
      }
      case 0x13:
        frame_.offset = at.sleb() * common_.data_factor;
        return true;
      case 0x2e:
        at.uleb();
        return true;  // GNU_args_size
      default:
        return run_on_register(instruction, at);
    }
  }

  bool run_on_register(std::uint8_t instruction, Cursor& at) {
    const std::uint64_t reg = at.uleb();
    switch (instruction) {
      case 0x05:
        save(reg, static_cast<std::int64_t>(at.uleb()));
        return true;  // offset_extended
      case 0x06:
        restore(reg);
        return true;  // restore_extended
      case 0x07:
        if (reg == kReturnAddress) frame_.is_last = true;
        return true;  // undefined
      case 0x08:
        if (reg == kFramePointer) frame_.saved_offset = 0;
        return true;  // same_value
      case 0x09:
        at.uleb();
        return true;  // register
      case 0x10:
      case 0x16:  // expressions
        skip_expression(at);
        if (reg == kFramePointer) frame_.is_usable = false;
        return true;
      case 0x11:
        save(reg, at.sleb());
        return true;  // offset_extended_sf
      default:
        return false;
    }
  }

  bool remember() {
    if (remembered_ == kMostRemembered) return false;
    stack_[remembered_++] = frame_;
    return true;
  }
  bool recall() {
    if (remembered_ == 0) return false;
    frame_ = stack_[--remembered_];
    return true;
  }

  const Common& common_;
  Frame& frame_;
  const Frame initial_;
  std::uint64_t location_ = 0;
  unsigned remembered_ = 0;
  Frame stack_[kMostRemembered];
};

/// Of the sorted list of a section: 4 bytes from the section to a function, 4 to its FDE.
struct Entry {
  std::int32_t function, fde;
};

// \returns nullptr when the list has another form, or no function at or before the address.
const std::uint8_t* find_fde(const std::uint8_t* section, std::uintptr_t address) {
  constexpr std::uint8_t kSortedForm = kFromData | kSdata4;
  if (section[0] != 1 || section[3] != kSortedForm || section[2] == kOmitted) return nullptr;
  Cursor at(section + 4);
  at.pointer(section[1]);
  std::uint64_t low = 0, high = at.pointer(section[2]);
  const auto entry_at = [&](std::uint64_t i) { return Cursor(at.at() + i * sizeof(Entry)).read<Entry>(); };
  const auto distance = static_cast<std::int64_t>(address - address_of(section));
  if (high == 0 || entry_at(0).function > distance) return nullptr;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (entry_at(middle).function <= distance ? low : high) = middle;
  }
  return section + entry_at(low).fde;
}

bool fits(std::int64_t number, std::int64_t limit) { return number > -limit && number < limit; }

// Whether an UnwindRule has room for the way from the frame to its caller.
bool fits_in_rule(const Frame& frame) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 30, kFarthestSaved = std::int64_t{1} << 22;
  const bool has_known_base = frame.base == kStackPointer || frame.base == kFramePointer;
  return has_known_base && fits(frame.offset, kFarthest) && fits(frame.saved_offset, kFarthestSaved);
}

UnwindRule rule_of(const Frame& frame) {
  UnwindRule rule;
  if (frame.is_last) {
    rule.kind = UnwindRule::Kind::kLast;
  } else if (frame.is_usable && fits_in_rule(frame)) {
    rule.kind = UnwindRule::Kind::kStep;
    rule.is_from_frame_pointer = frame.base == kFramePointer;
    rule.frame_offset = static_cast<std::int32_t>(frame.offset);
    rule.saved_offset = static_cast<std::int32_t>(frame.saved_offset);
  }
  return rule;
}

}  // namespace

UnwindRule rule_in_eh_frame(const void* eh_frame_hdr, std::uintptr_t address) {
  const std::uint8_t* const fde = find_fde(static_cast<const std::uint8_t*>(eh_frame_hdr), address);
  return fde != nullptr ? rule_in_function(fde, address) : UnwindRule{};
}

std::size_t list_functions(const void* eh_frame, std::size_t bytes, FunctionFrames* functions,
                           std::size_t room) {
  std::size_t count = 0;
  Cursor at(static_cast<const std::uint8_t*>(eh_frame));
  const std::uint8_t* const end = at.at() + bytes;
  while (end - at.at() >= static_cast<std::ptrdiff_t>(2 * sizeof(std::uint32_t))) {
    const std::uint8_t* const entry = at.at();
    const auto length = at.read<std::uint32_t>();
    if (length < sizeof(std::uint32_t) || length >= static_cast<std::uint64_t>(end - entry)) break;
    // A common entry has 0 where a function's has the distance to its common entry.
    const bool is_function = Cursor(at.at()).read<std::uint32_t>() != 0;
    at.skip(length);
    if (!is_function) continue;
    if (count < room) functions[count] = {read_function(entry).start, entry};
    ++count;
  }
  return count;
}

UnwindRule rule_in_function(const void* description, std::uintptr_t address) {
  const Function function = read_function(static_cast<const std::uint8_t*>(description));
  if (function.instructions == nullptr || address - function.start >= function.bytes) return {};
  // The frame below one that a signal interrupted is no call's.
  if (function.common.is_signal_frame) return {};
  Frame frame;
  const Common& common = function.common;
  if (!Interpreter(common, frame).run(common.instructions, common.end, 0, UINT64_MAX)) return {};
  if (!Interpreter(common, frame).run(function.instructions, function.end, function.start, address))
    return {};
  return rule_of(frame);
}

}  // namespace tarn::internal::os
