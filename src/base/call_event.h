// One call that a program made of the allocator, in 16 bytes: what the library puts down while it is
// recorded, and what a trace is made of (tools/trace/).
//
// address   48 bits: of the block; user space has no more on x86-64 and aarch64
// operation 8 bits: never 0, so that no such word is an address of the program
// alignment 8 bits: the binary logarithm of what was asked for beyond the usual; 0 for plain calls
// size      40 bits: the bytes asked for; more than a TiB is written as the most it holds
// order     24 bits: the low bits of a number that all threads share and each call raises
//
// Recorders that raise it less often say only roughly which of two threads' events came first. The rest
// follows from addresses: what is live cannot be handed out again, what is free cannot be freed
// (tools/trace/merge.h).
#pragma once
#include <cstdint>

namespace tarn::trace {

enum class Operation : std::uint8_t {
  kAllocate = 1,
  kAllocateZeroed,
  kFree,
  kResizeFrom,  // the block that is resized; the next event of the thread is kResizeTo
  kResizeTo,
  kThreadBegin,
  kThreadEnd,
  kMark,  // a number the program names, in `size`
  kLost,  // so many events of this thread, in `size`, are missing here
};

inline constexpr unsigned kAddressBits = 48, kSizeBits = 40, kOrderBits = 24;
inline constexpr std::uint64_t kMostAddress = (std::uint64_t{1} << kAddressBits) - 1;
inline constexpr std::uint64_t kMostSize = (std::uint64_t{1} << kSizeBits) - 1;
inline constexpr std::uint64_t kOrderMask = (std::uint64_t{1} << kOrderBits) - 1;

struct Event {
  std::uint64_t place;   // address, operation, alignment
  std::uint64_t extent;  // size, order

  constexpr std::uint64_t address() const { return place & kMostAddress; }
  constexpr Operation operation() const { return static_cast<Operation>((place >> kAddressBits) & 0xff); }
  constexpr unsigned alignment_log2() const { return static_cast<unsigned>(place >> (kAddressBits + 8)); }
  constexpr std::uint64_t size() const { return extent & kMostSize; }
  constexpr std::uint64_t low_order() const { return extent >> kSizeBits; }
};
static_assert(sizeof(Event) == 16);

/// What a caller knows of an event.
struct EventFields {
  Operation operation = Operation::kAllocate;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  unsigned alignment_log2 = 0;
  std::uint64_t order = 0;
};

constexpr Event packed(const EventFields& fields) {
  const std::uint64_t size = fields.size < kMostSize ? fields.size : kMostSize;
  return {(fields.address & kMostAddress) | static_cast<std::uint64_t>(fields.operation) << kAddressBits |
              static_cast<std::uint64_t>(fields.alignment_log2) << (kAddressBits + 8),
          size | (fields.order & kOrderMask) << kSizeBits};
}

}  // namespace tarn::trace
