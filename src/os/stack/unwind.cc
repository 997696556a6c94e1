#include "os/stack/unwind.h"

#include <atomic>
#include <cstring>

#include "base/bits.h"
#include "base/units.h"
#include "os/stack/eh_frame.h"
#include "os/stack/loaded_file.h"

namespace tarn::internal::os {
namespace {

// Two words per entry. The second is the address mixed with the first, so that halves of two entries do not
// look like one.
struct CachedRule {
  std::atomic<std::uint64_t> packed, check;
};
constexpr std::size_t kCachedRules = 4096;
constinit CachedRule cached_rules[kCachedRules];
constinit std::atomic<std::uint64_t> generation{1};

std::uint64_t check_of(std::uintptr_t address, std::uint64_t packed) {
  return (address + generation.load(std::memory_order_relaxed)) * kGoldenRatio ^ packed;
}
CachedRule& place_of(std::uintptr_t address) { return cached_rules[address * kGoldenRatio >> 52]; }
static_assert(kCachedRules == std::size_t{1} << (64 - 52));

std::uint64_t pack(const UnwindRule& rule) {
  return std::uint64_t{static_cast<std::uint32_t>(rule.frame_offset)} << 32 |
         std::uint64_t{static_cast<std::uint32_t>(rule.saved_offset) & 0xffffff} << 8 |
         std::uint64_t{rule.is_from_frame_pointer} << 4 | static_cast<std::uint64_t>(rule.kind);
}
UnwindRule unpack(std::uint64_t packed) {
  UnwindRule rule;
  rule.kind = static_cast<UnwindRule::Kind>(packed & 0xf);
  rule.is_from_frame_pointer = (packed >> 4 & 1) != 0;
  rule.frame_offset = static_cast<std::int32_t>(packed >> 32);
  rule.saved_offset = static_cast<std::int32_t>(static_cast<std::uint32_t>(packed)) >> 8;
  return rule;
}

UnwindRule interpret(std::uintptr_t address) {
  const std::optional<LoadedFile> found = loaded_file(address);
  if (found && found->eh_frame != nullptr) return rule_in_eh_frame(found->eh_frame, address);
  // A static program has no list of its functions, and the library is in it.
  const std::uintptr_t here = address_of(reinterpret_cast<const void*>(&rule_in_program));
  const bool is_static =
      !tells_loaded_files() ||
      (found && here - address_of(found->start) < address_of(found->end) - address_of(found->start));
  return is_static ? rule_in_program(address) : UnwindRule{};
}

[[gnu::noinline]] std::uint64_t pack_new_rule(CachedRule& cached, std::uintptr_t address) {
  const std::uint64_t made = pack(interpret(address));
  cached.packed.store(made, std::memory_order_relaxed);
  cached.check.store(check_of(address, made), std::memory_order_relaxed);
  return made;
}

// Inlined, so that the rule's parts stay in registers: a program that is looked at for leaks takes this step
// for each frame of each call.
TARN_INLINE UnwindRule rule_at(std::uintptr_t address) {
  CachedRule& cached = place_of(address);
  const std::uint64_t packed = cached.packed.load(std::memory_order_relaxed);
  const bool is_cached = cached.check.load(std::memory_order_relaxed) == check_of(address, packed);
  return unpack(is_cached ? packed : pack_new_rule(cached, address));
}

}  // namespace

UnwindRule unwind_rule(const void* return_address) { return rule_at(address_of(return_address) - 1); }

std::uint64_t generation_of_rules() { return generation.load(std::memory_order_relaxed); }

void forget_unwind_rules() { generation.fetch_add(1, std::memory_order_relaxed); }

#if defined(TARN_STEPS_ALONG_FRAMES)
bool step_to_caller(StackPlace& place, FrameKind kind, StackBounds& bounds, std::uintptr_t* saved_at) {
  // But for the innermost frame's, an address is the one behind a call.
  const UnwindRule rule = rule_at(kind == FrameKind::kInnermost ? place.address : place.address - 1);
  if (rule.kind != UnwindRule::Kind::kStep) return false;
  const std::uintptr_t base = rule.is_from_frame_pointer ? place.frame_pointer : place.stack_pointer;
  const std::uintptr_t frame = base + static_cast<std::uintptr_t>(std::intptr_t{rule.frame_offset});
  if (frame <= place.stack_pointer || frame % sizeof(void*) != 0 || !bounds.reach(frame)) return false;
  const std::uintptr_t saved = frame + static_cast<std::uintptr_t>(std::intptr_t{rule.saved_offset});
  if (saved < place.stack_pointer || saved > frame) return false;
  const std::uintptr_t address = word_at(frame - sizeof(void*));
  if (address == 0) return false;
  *saved_at = rule.saved_offset != 0 ? saved : 0;
  if (*saved_at != 0) place.frame_pointer = word_at(saved);
  place.stack_pointer = frame;
  place.address = address;
  return true;
}

unsigned capture_stack_from(StackPlace place, void** addresses, unsigned most) {
  KnownStack known{};
  StackBounds bounds(place.stack_pointer, known);
  std::uintptr_t saved_at = 0;
  unsigned count = 0;
  for (FrameKind kind = FrameKind::kInnermost; count < most; kind = FrameKind::kCaller) {
    if (!step_to_caller(place, kind, bounds, &saved_at)) break;
    addresses[count++] = reinterpret_cast<void*>(place.address);
  }
  return count;
}

[[gnu::noinline]] unsigned capture_stack(void** addresses, unsigned most) {
  return capture_stack_from(this_place(), addresses, most);
}
#else
// By frame pointers, which this ABI keeps.
unsigned capture_stack_from(StackPlace place, void** addresses, unsigned most) {
  std::uintptr_t frame = place.frame_pointer;
  KnownStack known{};
  StackBounds bounds(place.stack_pointer, known);
  unsigned count = 0;
  while (count < most && frame % sizeof(void*) == 0 && frame >= place.stack_pointer &&
         bounds.reach(frame + 2 * sizeof(void*))) {
    const std::uintptr_t caller = word_at(frame), address = word_at(frame + sizeof(void*));
    if (address == 0) break;
    addresses[count++] = reinterpret_cast<void*>(address);
    if (caller <= frame) break;
    frame = caller;
  }
  return count;
}

[[gnu::noinline]] unsigned capture_stack(void** addresses, unsigned most) {
  const std::uintptr_t frame = address_of(__builtin_frame_address(0));
  return capture_stack_from({0, frame, frame}, addresses, most);
}
#endif

}  // namespace tarn::internal::os
