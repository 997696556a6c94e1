#include "observe/profile/samples.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "general/options/configuration.h"
#include "observe/profile/code_modules.h"
#include "os/fatal.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/stack/stack_memo.h"
#include "thread/heap_record.h"
#include "thread/observation/exponential.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kLargestSerial = (1 << 24) - 1;

// Only the program's threads add.
void add_to(std::atomic<std::uint64_t>& sum, std::uint64_t value) {
  if (os::is_only_thread())
    sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  else
    sum.fetch_add(value, std::memory_order_relaxed);
}

// What a sample stands for.
struct Parts {
  std::uint64_t of_blocks, of_bytes;

  Parts(std::uint64_t requested, std::uint64_t interval) {
    const double blocks = blocks_of_sample(requested, interval);
    const double bytes = blocks * static_cast<double>(requested);
    of_blocks = static_cast<std::uint64_t>(blocks * SampledStack::kPartsOfBlock + 0.5);
    of_bytes = static_cast<std::uint64_t>(bytes * SampledStack::kPartsOfByte + 0.5);
  }
};

constexpr std::uint32_t bytes_of_stack(std::uint32_t count) {
  const std::size_t more = count == 0 ? 0 : count - 1;
  return static_cast<std::uint32_t>(sizeof(SampledStack) + more * sizeof(std::uint64_t));
}

// Before main, as the doors of the general pool may ask then.
constexpr SampleSink kSink{
    [](const Sampled& sampled) { samples.add(sampled); }, [](void* block) { return samples.remove(block); },
    [](void* from, void* to) { samples.move(from, to); }, [] { samples.end_of_switch(); }};

[[gnu::constructor(102)]] void begin_samples() {
  os::fork_set.set_walk(os::LockRank::kSamples,
                        [](os::ForkSet::Visit visit) { samples.visit_for_fork(visit); });
  observation.set_sink(kSink);
}

}  // namespace

constinit Samples samples;

Samples::Part& Samples::part_of(std::uint64_t block) {
  static_assert(kParts == 16);
  return parts_[mixed(block) >> 60];
}

// \returns the entry of a block, or the free one where it would lie. \pre the part has a free entry.
std::size_t Samples::place_of(const Part& part, std::uint64_t block) {
  std::size_t place = mixed(block) & (part.room - 1);
  while (part.entries[place].block != 0 && part.entries[place].block != block)
    place = (place + 1) & (part.room - 1);
  return place;
}

Samples::OldEntries::~OldEntries() {
  if (start != nullptr) os::release(start, room * sizeof(Sample));
}

bool Samples::grow_locked(Part& part, OldEntries& old) {
  const std::size_t room = part.room == 0 ? kFirstRoom : part.room * 2;
  auto* const entries = static_cast<Sample*>(os::map(room * sizeof(Sample)));
  if (entries == nullptr) return false;
  Part larger;
  larger.entries = entries;
  larger.room = room;
  for (std::size_t i = 0; i < part.room; ++i)
    if (part.entries[i].block != 0) entries[place_of(larger, part.entries[i].block)] = part.entries[i];
  // The caller unmaps the old entries once it has let the mutex go.
  old.start = part.entries;
  old.room = part.room;
  part.entries = entries;
  part.room = room;
  return true;
}

void Samples::put(const Sample& sample) {
  OldEntries old;
  Part& part = part_of(sample.block);
  os::LockGuard guard(part.mutex);
  if (!put_locked(part, sample, old)) lost_.fetch_add(1, std::memory_order_relaxed);
}

bool Samples::put_locked(Part& part, const Sample& sample, OldEntries& old) {
  const bool is_nearly_full = part.count + 1 > part.room / 4 * 3;
  if (is_nearly_full && !grow_locked(part, old)) return false;
  Sample& place = part.entries[place_of(part, sample.block)];
  part.count += place.block == 0 ? 1 : 0;
  place = sample;
  place.serial = ++part.last_serial & kLargestSerial;
  return true;
}

// Entries behind the one that goes move up as far as their hashes allow, so that no search ends too early.
Sample Samples::take_locked(Part& part, std::uint64_t block) {
  if (part.room == 0) return {};
  const std::size_t mask = part.room - 1;
  std::size_t gap = place_of(part, block);
  const Sample taken = part.entries[gap];
  if (taken.block == 0) return taken;
  for (std::size_t i = (gap + 1) & mask; part.entries[i].block != 0; i = (i + 1) & mask) {
    const std::size_t home = mixed(part.entries[i].block) & mask;
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    part.entries[gap] = part.entries[i];
    gap = i;
  }
  part.entries[gap].block = 0;
  --part.count;
  return taken;
}

// \returns nullptr for a thread without a number, or when memory is refused.
char* Samples::memo_of_this_thread(std::size_t bytes_each) {
  const ThreadHeap* const heap = this_heap();
  if (heap == nullptr || heap->cache->thread_number == 0) return nullptr;
  char* memos = memos_.load(std::memory_order_acquire);
  if (memos == nullptr) {
    const std::size_t bytes = (detail::kNumberedThreads + 1) * bytes_each;
    auto* const made = static_cast<char*>(os::map(round_up(bytes, kOsPageBytesLargest)));
    if (made == nullptr) return nullptr;
    if (memos_.compare_exchange_strong(memos, made, std::memory_order_acq_rel))
      memos = made;
    else
      os::release(made, round_up(bytes, kOsPageBytesLargest));
  }
  return memos + heap->cache->thread_number * bytes_each;
}

void Samples::add(const Sampled& sampled) {
  // Before the options are read there is no memo that would have to have the same room each time.
  const auto most = std::max(static_cast<unsigned>(configuration.value(Option::kProfileDepth)),
                             os::StackMemo::kFewestAddresses);
  const std::size_t bytes = round_up(os::StackMemo::bytes_for(most), kCacheLineBytes);
  char* const memo = memo_of_this_thread(bytes);
  // A stack may be too small for what is known of it.
  const std::size_t mapped_bytes = memo == nullptr ? round_up(bytes, kOsPageBytesLargest) : 0;
  char* const mapped = mapped_bytes == 0 ? nullptr : static_cast<char*>(os::map(mapped_bytes));
  os::CapturedStack captured{};
  if (memo != nullptr || mapped != nullptr)
    captured = reinterpret_cast<os::StackMemo*>(memo != nullptr ? memo : mapped)->capture(most);
  const Found found{captured.addresses, captured.count, sampled.pool,
                    mixed(captured.hash ^ sampled.pool << 32)};
  const std::uint32_t stack = intern(found);
  if (mapped != nullptr) os::release(mapped, mapped_bytes);
  note_allocated(stack, sampled);
  put({address_of(sampled.block), sampled.requested, stack, sampled.lasts, 0, sampled.interval, sampled.pool,
       sampled.interval == 1 ? 0 : os::clock_ns()});
}

void Samples::note_allocated(std::uint32_t number, const Sampled& sampled) {
  if (number == 0) return;
  auto& of = *const_cast<SampledStack*>(stack(number));
  const Parts parts(sampled.requested, sampled.interval);
  add_to(of.samples, 1);
  add_to(of.block_parts, parts.of_blocks);
  add_to(of.byte_parts, parts.of_bytes);
}

void Samples::note_ended(const Sample& sample) {
  if (sample.stack == 0 || sample.made_ns == 0) return;
  const std::uint64_t lived_ns = os::clock_ns() - sample.made_ns;
  if (lived_ns > SampledStack::kSecondNs) return;
  auto& of = *const_cast<SampledStack*>(stack(sample.stack));
  const Parts parts(sample.requested, sample.interval);
  add_to(of.second_byte_parts, parts.of_bytes);
  if (lived_ns > SampledStack::kTemporaryNs) return;
  add_to(of.temporary_samples, 1);
  add_to(of.temporary_block_parts, parts.of_blocks);
  add_to(of.temporary_byte_parts, parts.of_bytes);
}

bool Samples::remove(void* block) {
  Sample sample{};
  {
    Part& part = part_of(address_of(block));
    os::LockGuard guard(part.mutex);
    sample = take_locked(part, address_of(block));
  }
  if (sample.block == 0) return false;
  note_ended(sample);
  return true;
}

bool Samples::find(std::uint64_t block, Sample& copy) {
  Part& part = part_of(block);
  os::LockGuard guard(part.mutex);
  if (part.room == 0) return false;
  copy = part.entries[place_of(part, block)];
  return copy.block == block;
}

void Samples::move(void* from, void* to) {
  Sample sample{};
  {
    Part& part = part_of(address_of(from));
    os::LockGuard guard(part.mutex);
    sample = take_locked(part, address_of(from));
  }
  if (sample.block == 0) return;
  sample.block = address_of(to);
  put(sample);
}

std::size_t Samples::copy_from(Part& part, std::size_t* entry, Sample* copies, std::size_t most) {
  os::LockGuard guard(part.mutex);
  std::size_t copied = 0;
  for (; *entry < part.room && copied < most; ++*entry)
    if (part.entries[*entry].block != 0) copies[copied++] = part.entries[*entry];
  return copied;
}

// An entry that goes may let another move to its place.
void Samples::end_of_switch() {
  for (Part& part : parts_) {
    os::LockGuard guard(part.mutex);
    for (std::size_t i = 0; i < part.room;) {
      const Sample& sample = part.entries[i];
      if (sample.block != 0 && sample.lasts == SampleLasts::kUntilSwitch)
        take_locked(part, sample.block);
      else
        ++i;
    }
  }
}

const SampledStack* Samples::stack(std::uint32_t number) const {
  const std::uint64_t at = std::uint64_t{number} * kStackUnit;
  if (number == 0 || at / kStackPieceBytes >= piece_count_.load(std::memory_order_acquire)) return nullptr;
  return reinterpret_cast<const SampledStack*>(pieces_[at / kStackPieceBytes] + at % kStackPieceBytes);
}

std::size_t Samples::StackTable::bytes_for(std::size_t room) {
  return round_up(sizeof(StackTable) + (room - 1) * sizeof(std::uint64_t), kOsPageBytesLargest);
}

void Samples::StackTable::add(std::uint64_t hash, std::uint32_t number) {
  std::size_t i = hash & (room - 1);
  while (places[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & (room - 1);
  places[i].store(hash >> 32 << 32 | number, std::memory_order_release);
}

bool Samples::is_stack(std::uint32_t number, const Found& found) const {
  const SampledStack& other = *stack(number);
  return other.hash == found.hash && other.is_hidden.load(std::memory_order_relaxed) == 0 &&
         other.count == found.count && other.pool == found.pool &&
         std::memcmp(other.addresses, found.addresses, found.count * sizeof(void*)) == 0;
}

// \returns 0 where there is none, or a table that has grown meanwhile has it.
std::uint32_t Samples::find_stack(const Found& found) const {
  const StackTable* const table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return 0;
  for (std::size_t i = found.hash & (table->room - 1);; i = (i + 1) & (table->room - 1)) {
    const std::uint64_t place = table->places[i].load(std::memory_order_acquire);
    if (place == 0) return 0;
    const auto number = static_cast<std::uint32_t>(place);
    if (place >> 32 == found.hash >> 32 && is_stack(number, found)) return number;
  }
}

// \returns 0 when memory is refused.
std::uint32_t Samples::intern(const Found& found) {
  if (const std::uint32_t number = find_stack(found); number != 0) return number;
  os::LockGuard guard(stacks_mutex_);
  if (const std::uint32_t number = find_stack(found); number != 0) return number;
  note_modules_locked(found);
  if (const std::uint32_t number = find_stack(found); number != 0) return number;  // its code is back
  return make_stack_locked(found);
}

// Hides a module's stacks while a file that an address lies in has gone: no new sample finds them.
void Samples::update_stacks_of_locked(const CodeModule& module) {
  const StackTable* const table = samples.table_.load(std::memory_order_relaxed);
  for (std::size_t place = 0; table != nullptr && place < table->room; ++place) {
    const std::uint32_t number = table->number_at(place);
    auto* const stack = const_cast<SampledStack*>(samples.stack(number));
    bool has_one = false, is_hidden = false;
    for (std::uint32_t i = 0; stack != nullptr && i < stack->count; ++i) {
      has_one |= module.has(stack->addresses[i] - 1);
      is_hidden |= code_modules.find_gone(number, stack->addresses[i] - 1) != nullptr;
    }
    if (has_one) stack->is_hidden.store(is_hidden ? 1 : 0, std::memory_order_relaxed);
  }
}

void Samples::note_modules_locked(const Found& found) {
  const std::uint64_t pieces = piece_count_.load(std::memory_order_relaxed);
  const std::uint64_t next = pieces == 0 ? kStackUnit : (pieces - 1) * kStackPieceBytes + used_in_piece_;
  const auto number = static_cast<std::uint32_t>(next / kStackUnit);
  const CodeModule* last = nullptr;
  for (std::uint32_t i = 0; i < found.count; ++i) {
    const std::uint64_t call = address_of(found.addresses[i]) - 1;
    if (last == nullptr || !last->has(call)) last = code_modules.note(call, number, update_stacks_of_locked);
  }
}

void Samples::note_unloaded_code() {
  os::LockGuard guard(stacks_mutex_);
  code_modules.note_unloaded(update_stacks_of_locked);
}

// \returns false when memory is refused.
bool Samples::make_room_in_table_locked() {
  StackTable* const table = table_.load(std::memory_order_relaxed);
  if (table != nullptr && stack_count_ < table->room / 2) return true;
  const std::size_t room = table == nullptr ? StackTable::kFirstRoom : table->room * 2;
  auto* const larger = static_cast<StackTable*>(os::map(StackTable::bytes_for(room)));
  if (larger == nullptr) return false;
  larger->room = room;
  larger->smaller = table;
  for (std::size_t i = 0; table != nullptr && i < table->room; ++i)
    if (const std::uint32_t number = table->number_at(i); number != 0)
      larger->add(stack(number)->hash, number);
  table_.store(larger, std::memory_order_release);
  return true;
}

// \returns nullptr when memory is refused.
char* Samples::take_stack_memory_locked(std::uint32_t bytes) {
  std::uint32_t pieces = piece_count_.load(std::memory_order_relaxed);
  if (kStackPieceBytes - used_in_piece_ < bytes) {
    if (pieces == kMostPieces) return nullptr;
    pieces_[pieces] = static_cast<char*>(os::map(kStackPieceBytes));
    if (pieces_[pieces] == nullptr) return nullptr;
    used_in_piece_ = kStackUnit;  // no stack has the number 0
    piece_count_.store(++pieces, std::memory_order_release);
  }
  char* const taken = pieces_[pieces - 1] + used_in_piece_;
  used_in_piece_ += bytes;
  return taken;
}

// \returns 0 when memory is refused.
std::uint32_t Samples::make_stack_locked(const Found& found) {
  if (!make_room_in_table_locked()) return 0;
  char* const memory = take_stack_memory_locked(bytes_of_stack(found.count));
  if (memory == nullptr) return 0;
  const std::uint32_t piece = piece_count_.load(std::memory_order_relaxed) - 1;
  const std::uint64_t at =
      std::uint64_t{piece} * kStackPieceBytes + static_cast<std::size_t>(memory - pieces_[piece]);
  auto* const made = reinterpret_cast<SampledStack*>(memory);
  made->count = found.count;
  made->hash = found.hash;
  made->pool = found.pool;
  for (std::uint32_t i = 0; i < found.count; ++i) made->addresses[i] = address_of(found.addresses[i]);
  const auto number = static_cast<std::uint32_t>(at / kStackUnit);
  table_.load(std::memory_order_relaxed)->add(found.hash, number);
  ++stack_count_;
  return number;
}

void Samples::validate() {
  for (Part& part : parts_) {
    os::LockGuard guard(part.mutex);
    std::size_t count = 0;
    for (std::size_t i = 0; i < part.room; ++i) {
      if (part.entries[i].block == 0) continue;
      ++count;
      TARN_CHECK(place_of(part, part.entries[i].block) == i);
      TARN_CHECK(&part_of(part.entries[i].block) == &part);
    }
    TARN_CHECK(count == part.count && count <= part.room / 4 * 3);
  }
}

}  // namespace tarn::internal
