#include "general/guarded/guarded_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "os/fatal.h"
#include "os/memory/memory.h"
#include "os/memory/own_memory.h"
#include "os/process/common_calls.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "os/stack/code_place.h"
#include "os/stack/stack_memo.h"
#include "os/stack/unwind.h"
#include "page/give_back/page_cache.h"

namespace tarn::internal {
namespace {

// Of the heap, and of the slots.
constexpr std::size_t kShareOfHeap = 128, kShareOfSite = 8;
constexpr std::size_t kFewestPages = 16;

char* page_of(char* pointer) { return pointer - address_of(pointer) % os::page_bytes(); }

std::size_t pages_of_block(std::size_t bytes) { return round_up(bytes, os::page_bytes()) / os::page_bytes(); }

// Of all live blocks together.
std::size_t most_pages() {
  const std::size_t affordable = page_cache.committed_bytes() / kShareOfHeap / os::page_bytes();
  return affordable < kFewestPages ? kFewestPages : affordable;
}

}  // namespace

constinit GuardedBlocks guarded_blocks;

std::uint32_t GuardedCall::this_thread() { return os::makes_common_calls_only() ? 0 : os::thread_id(); }

void GuardedCall::take() {
  thread = this_thread();
  count = os::capture_stack(addresses, kMostAddresses);
}

// The page before the first slot's is a guard too: all that is reserved lies between some.
bool GuardedBlocks::begin_locked() {
  if (slots_ != nullptr) return true;
  slot_bytes_ = round_up(kLargest, os::page_bytes()) + os::page_bytes();
  const std::size_t bytes = kMostSlots * slot_bytes_;
  void* const start = os::reserve(bytes, 1);
  if (start == nullptr) return false;
  slots_ = static_cast<GuardedSlot*>(os::map(round_up(kMostSlots * sizeof(GuardedSlot), kPageBytes)));
  if (slots_ == nullptr) {
    os::undo_reserve(start, bytes);
    return false;
  }
  start_.store(address_of(start), std::memory_order_relaxed);
  bytes_.store(bytes, std::memory_order_release);
  return true;
}

// A new slot as long as there may be more, so that those that wait do so for long; else the one that has
// waited longest.
GuardedSlot* GuardedBlocks::take_slot_locked(std::size_t size, std::uint64_t site, bool at_any_price) {
  const std::size_t most = at_any_price ? SIZE_MAX : most_pages();
  GuardedSlot* oldest = nullptr;
  std::size_t pages = pages_of_block(size), of_site = 0;
  for (std::uint32_t i = 0; i < used_; ++i) {
    GuardedSlot& slot = slots_[i];
    const SlotState state = slot.state.load(std::memory_order_acquire);
    if (state == SlotState::kLive) {
      pages += pages_of_block(slot.bytes);
      of_site += slot.site == site ? 1 : 0;
    } else if (state == SlotState::kWaiting && (oldest == nullptr || slot.freed_as < oldest->freed_as)) {
      oldest = &slot;
    }
  }
  if (pages > most || of_site >= most / kShareOfSite) return nullptr;
  GuardedSlot* const taken = used_ < std::min<std::size_t>(most, kMostSlots) ? &slots_[used_++] : oldest;
  if (taken != nullptr) taken->state.store(SlotState::kTaken, std::memory_order_relaxed);
  return taken;
}

// Nobody waits: a signal's handler may have left a call that has the lock.
GuardedSlot* GuardedBlocks::take_slot(std::size_t size, std::uint64_t site, bool at_any_price) {
  if (!mutex_.try_lock()) return nullptr;
  GuardedSlot* const slot = begin_locked() ? take_slot_locked(size, site, at_any_price) : nullptr;
  mutex_.unlock();
  return slot;
}

GuardedSlot& GuardedBlocks::slot_of(const void* pointer) const {
  return slots_[(address_of(pointer) - start_.load(std::memory_order_relaxed)) / slot_bytes_];
}

char* GuardedBlocks::end_of(const GuardedSlot& slot) const {
  return reinterpret_cast<char*>(start_.load(std::memory_order_relaxed)) +
         static_cast<std::size_t>(&slot - slots_ + 1) * slot_bytes_ - os::page_bytes();
}

char* GuardedBlocks::block_of(const GuardedSlot& slot) const {
  return end_of(slot) - round_up(slot.bytes, kAlignment);
}

GuardedBlocks::Pads GuardedBlocks::pads_of(const GuardedSlot& slot) const {
  char* const block = block_of(slot);
  char* const first = std::max(page_of(block), block - kPadBytes);
  char* const behind = block + slot.bytes;
  return {first, static_cast<std::size_t>(block - first), behind,
          static_cast<std::size_t>(end_of(slot) - behind)};
}

// \returns what has been done to the bytes about a block; nullptr: nothing.
const char* GuardedBlocks::misuse_of(const Pads& pads) {
  const auto is_whole = [](const char* start, std::size_t bytes) {
    return std::all_of(start, start + bytes, [](char byte) { return byte == static_cast<char>(kPad); });
  };
  if (!is_whole(pads.behind, pads.behind_bytes)) return "write past the end of a block";
  return is_whole(pads.before, pads.before_bytes) ? nullptr : "write before the start of a block";
}

// No page of it may be touched, and none has memory.
void GuardedBlocks::close(GuardedSlot& slot) {
  char* const first = page_of(block_of(slot));
  const auto bytes = static_cast<std::size_t>(end_of(slot) - first);
  if (!os::purge(first, bytes)) std::memset(first, 0, bytes);
  os::make_guard(first, bytes);
  slot.freed_as = frees_.fetch_add(1, std::memory_order_relaxed);
  slot.state.store(SlotState::kWaiting, std::memory_order_release);
}

// A slot that the system does not let be touched, since the process has too many areas, waits on.
void* GuardedBlocks::hand_out(GuardedSlot& slot, std::size_t size, std::uint64_t site,
                              const GuardedCall& call) {
  char* const end = end_of(slot);
  char* const first = page_of(end - round_up(size, kAlignment));
  if (!os::commit(first, static_cast<std::size_t>(end - first))) {
    slot.state.store(SlotState::kWaiting, std::memory_order_release);
    return nullptr;
  }
  slot.bytes = static_cast<std::uint32_t>(size);
  slot.site = site;
  slot.made = call;
  slot.freed.count = 0;
  const Pads pads = pads_of(slot);
  std::memset(pads.before, kPad, pads.before_bytes);
  std::memset(pads.behind, kPad, pads.behind_bytes);
  live_.fetch_add(1, std::memory_order_relaxed);
  made_.fetch_add(1, std::memory_order_relaxed);
  slot.state.store(SlotState::kLive, std::memory_order_release);
  return block_of(slot);
}

void* GuardedBlocks::allocate(std::size_t size, bool at_any_price) {
  if (size > kLargest || os::makes_common_calls_only()) return nullptr;
  if (size == 0) size = 1;
  GuardedCall call;
  call.take();
  const std::uint64_t site = os::hash_of_stack(call.addresses, call.count);
  GuardedSlot* const slot = take_slot(size, site, at_any_price);
  if (slot == nullptr) return nullptr;
  watch_faults();
  return hand_out(*slot, size, site, call);
}

namespace {

void write_call(const char* who, const GuardedCall& call) {
  os::write_stack(who, call.thread, call.addresses, call.count);
}

void note_misuse(const char* what, const void* block) {
  os::misuse(what, block, nullptr, guarded_blocks.bytes_of_block(block),
             [](const void* its) { guarded_blocks.write_stacks_of(its); });
}

}  // namespace

void GuardedBlocks::deallocate(void* block) {
  GuardedSlot& slot = slot_of(block);
  SlotState state = slot.state.load(std::memory_order_acquire);
  if (state == SlotState::kNew || state == SlotState::kTaken)
    return os::misuse("free of a pointer that is no block", block);
  if (block != block_of(slot)) return note_misuse("free of a pointer into a block", block);
  if (state != SlotState::kLive ||
      !slot.state.compare_exchange_strong(state, SlotState::kFreed, std::memory_order_acq_rel))
    return note_misuse("double free", block);
  if (const char* const misuse = misuse_of(pads_of(slot))) note_misuse(misuse, block);
  slot.freed.take();
  live_.fetch_sub(1, std::memory_order_relaxed);
  close(slot);
}

// Other threads may free blocks meanwhile, whose pages then fault: so they are read through the kernel, and
// what was read counts where the block is there still.
void GuardedBlocks::check_at_exit() const {
  const os::OwnMemory memory;
  if (!memory.can_read()) return;
  for (std::uint32_t i = 0; i < used_; ++i) {
    const GuardedSlot& slot = slots_[i];
    const std::uint64_t frees = slot.freed_as;
    const auto is_live = [&] {
      return slot.state.load(std::memory_order_acquire) == SlotState::kLive && slot.freed_as == frees;
    };
    if (!is_live()) continue;
    Pads pads = pads_of(slot);
    char copy[kPadBytes + kAlignment];
    const os::AddressRange ranges[] = {
        {address_of(pads.before), address_of(pads.before + pads.before_bytes)},
        {address_of(pads.behind), address_of(pads.behind + pads.behind_bytes)}};
    if (memory.read(ranges, 2, copy) != pads.before_bytes + pads.behind_bytes) continue;
    pads.before = copy;
    pads.behind = copy + pads.before_bytes;
    const char* const misuse = misuse_of(pads);
    if (misuse != nullptr && is_live()) note_misuse(misuse, block_of(slot));
  }
}

namespace {

[[gnu::destructor(101)]] void check_guarded_blocks() {
  if (guarded_blocks.live() != 0) guarded_blocks.check_at_exit();
}

}  // namespace

bool GuardedBlocks::is_block(const void* pointer) const {
  const GuardedSlot& slot = slot_of(pointer);
  return slot.state.load(std::memory_order_acquire) == SlotState::kLive && pointer == block_of(slot);
}

std::size_t GuardedBlocks::usable_bytes(const void* block) {
  if (is_block(block)) return bytes_of_block(block);
  note_misuse("use of a pointer that is no block", block);
  os::fatal("use of a block that is not whole", block);
}

std::size_t GuardedBlocks::bytes_of_block(const void* pointer) const { return slot_of(pointer).bytes; }

void GuardedBlocks::describe_fault(std::uintptr_t address, bool is_write, Text& line) const {
  const GuardedSlot& slot = slot_of(reinterpret_cast<const void*>(address));
  const SlotState state = slot.state.load(std::memory_order_acquire);
  const std::uintptr_t block = address_of(block_of(slot));
  const char* const where = state != SlotState::kLive ? " after free"
                            : address >= block        ? " past the end"
                                                      : " before the start";
  line.add("tarn: ").add(is_write ? "write" : "read").add(state == SlotState::kNew ? " of no block" : where);
  if (address < block)
    line.add(", ").add_grouped(block - address).add(" bytes before a block");
  else
    line.add(", at byte ").add_grouped(address - block).add(" of a block");
  line.add(" of ").add_grouped(slot.bytes).add(" bytes: ").add_hex(block);
}

void GuardedBlocks::write_stacks_of(const void* pointer) const {
  const GuardedSlot& slot = slot_of(pointer);
  const SlotState state = slot.state.load(std::memory_order_acquire);
  if (state != SlotState::kNew && state != SlotState::kLive && slot.freed.count != 0)
    write_call("freed ", slot.freed);
  if (state != SlotState::kNew) write_call("allocated ", slot.made);
}

}  // namespace tarn::internal
