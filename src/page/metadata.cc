#include "page/metadata.h"

#include "os/memory.h"

namespace tarn::internal {
namespace {

// Spares a small program a system call.
alignas(kCacheLineBytes) constinit char first_piece[64 * 1024] = {};

}  // namespace

constinit Metadata metadata;

bool Metadata::take_piece(std::size_t bytes) {
  if (!first_piece_taken_ && bytes <= kFirstPieceBytes) {
    first_piece_taken_ = true;
    next_ = first_piece;
    end_ = first_piece + kFirstPieceBytes;
    return true;
  }
  const std::size_t piece = bytes < kPieceBytes ? kPieceBytes : round_up(bytes, kPageBytes);
  char* const start = static_cast<char*>(os::map(piece));
  if (start == nullptr) return false;
  next_ = start;
  end_ = start + piece;
  return true;
}

void* Metadata::allocate(std::size_t bytes) {
  bytes = round_up(bytes, kCacheLineBytes);
  os::LockGuard guard(mutex_);
  const std::size_t lines = bytes / kCacheLineBytes;
  if (bytes <= kLargestReused && free_[lines] != nullptr) {
    FreeRecord* const record = free_[lines];
    free_[lines] = record->next;
    used_bytes_ += bytes;
    return record;
  }
  if (static_cast<std::size_t>(end_ - next_) < bytes && !take_piece(bytes)) return nullptr;
  void* const record = next_;
  next_ += bytes;
  used_bytes_ += bytes;
  return record;
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
