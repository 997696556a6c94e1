#include "page/memory/metadata.h"

#include <cstring>

#include "os/checker.h"
#include "os/memory/memory.h"
#include "page/memory/memory_limit.h"

namespace tarn::internal {
namespace {

// Saves a small program a system call.
alignas(kCacheLineBytes) constinit char first_piece[64 * 1024] = {};

}  // namespace

constinit Metadata metadata;

// Reserves addresses far ahead: a limit of the address space that is set later does not stop them from being
// committed.
void Metadata::reserve() {
  os::LockGuard guard(mutex_);
  reserve_more(kPieceBytes);
}

bool Metadata::reserve_more(std::size_t bytes) {
  std::size_t wished = os::address_space_limit() == SIZE_MAX ? kReserveBytes : kLimitedReserveBytes;
  for (; wished >= bytes; wished /= 2) {
    reserve_next_ = static_cast<char*>(os::reserve(wished, 1));
    reserve_end_ = reserve_next_ == nullptr ? nullptr : reserve_next_ + wished;
    if (reserve_next_ != nullptr) return true;
  }
  return false;
}

std::size_t Metadata::release_tail_locked() {
  const std::size_t bytes = reserve_next_ == nullptr ? 0 : os::release_tail(reserve_next_);
  if (bytes != 0) reserve_end_ = reserve_next_;
  return bytes;
}

void Metadata::note_range_locked(char* start, char* end) {
  os::note_ordered_by_atomics(start, static_cast<std::size_t>(end - start));
  const std::uint32_t count = range_count();
  if (count != 0 && ranges_[count - 1].end == start) {
    ranges_[count - 1].end = end;
  } else if (count == kMostRanges) {
    ++lost_ranges_;
  } else {
    ranges_[count].start = start;
    ranges_[count].end = end;
    range_count_.store(count + 1, std::memory_order_release);
  }
}

bool Metadata::take_piece(std::size_t bytes) {
  if (!first_piece_taken_ && bytes <= sizeof first_piece) {
    first_piece_taken_ = true;
    next_ = first_piece;
    end_ = first_piece + sizeof first_piece;
    note_range_locked(next_, end_);
    return true;
  }
  std::size_t piece = bytes < kPieceBytes ? kPieceBytes : round_up(bytes, kPageBytes);
  if (unused_bytes_locked() < piece && !reserve_more(piece)) return false;
  // At a limit of the system, what is needed.
  if (!os::commit(reserve_next_, piece) &&
      !os::commit(reserve_next_, piece = round_up(bytes, kOsPageBytesLargest)))
    return false;
  note_range_locked(reserve_next_, reserve_next_ + piece);
  if (end_ != reserve_next_) next_ = reserve_next_;  // otherwise the new piece extends the last one
  reserve_next_ += piece;
  end_ = reserve_next_;
  return true;
}

void* Metadata::take_free_locked(std::size_t bytes) {
  const std::size_t lines = bytes / kCacheLineBytes;
  if (bytes > kLargestReused || free_[lines] == nullptr) return nullptr;
  FreeRecord* const record = free_[lines];
  free_[lines] = record->next;
  used_bytes_ += bytes;
  return record;
}

void* Metadata::cut_locked(std::size_t bytes) {
  if (static_cast<std::size_t>(end_ - next_) < bytes && !take_piece(bytes)) {
    MemoryLimit::note_refused_by_system(bytes);
    return nullptr;
  }
  void* const record = next_;
  next_ += bytes;
  cut_bytes_ += bytes;
  memory_limit.charge_records(bytes);
  used_bytes_ += bytes;
  return record;
}

void Metadata::count_elsewhere(std::size_t bytes) {
  os::LockGuard guard(mutex_);
  elsewhere_bytes_ += bytes;
  used_bytes_ += bytes;
  memory_limit.charge_records(bytes);
}

void Metadata::prepare(std::size_t bytes) {
  os::LockGuard guard(mutex_);
  const bool is_extended = end_ != nullptr && end_ == reserve_next_ && reserve_next_ != reserve_end_;
  if (is_extended && cut_bytes_ + static_cast<std::size_t>(end_ - next_) < bytes) take_piece(1);
}

void* Metadata::allocate(std::size_t bytes) {
  bytes = round_up(bytes, kCacheLineBytes);
  os::LockGuard guard(mutex_);
  void* const record = take_free_locked(bytes);
  return record != nullptr ? record : cut_locked(bytes);
}

void* Metadata::allocate_zeroed(std::size_t bytes) {
  bytes = round_up(bytes, kCacheLineBytes);
  os::LockGuard guard(mutex_);
  if (void* const record = take_free_locked(bytes)) return std::memset(record, 0, bytes);
  return cut_locked(bytes);
}

void Metadata::free(void* record, std::size_t bytes) {
  bytes = round_up(bytes, kCacheLineBytes);
  if (bytes > kLargestReused) return;
  os::LockGuard guard(mutex_);
  FreeRecord* const free_record = static_cast<FreeRecord*>(record);
  free_record->next = free_[bytes / kCacheLineBytes];
  free_[bytes / kCacheLineBytes] = free_record;
  used_bytes_ -= bytes;
}

}  // namespace tarn::internal
