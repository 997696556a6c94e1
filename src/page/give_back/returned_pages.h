// Collects spans that ended while locks are held, and frees them once no lock is held.
//
// Code under a lock adds its ended spans here. The destructor frees them to the page cache and then gives
// back what is too much (background.h); so it must run with no lock held. Declare an object
// of this class before the guard of the lock, so that it is destroyed after the unlock.
//
// Threads: one.
#pragma once
#include <cstddef>

#include "page/spans/span.h"

namespace tarn::internal {

class ReturnedPages {
 public:
  ReturnedPages() = default;
  ReturnedPages(const ReturnedPages&) = delete;
  ReturnedPages& operator=(const ReturnedPages&) = delete;
  ~ReturnedPages() {
    if (first_ != nullptr || has_kept_much_ || has_given_back_) [[unlikely]]
      finish();
  }

  /// Adds an ended span of the page cache. \pre it is in no list, and no thread frees a block of it.
  void add(Span* span) {
    bytes_ += span->bytes();
    span->next = first_;
    first_ = span;
  }

  /// Notes that `bytes` of pages were freed without a span.
  void note_given_back(std::size_t bytes) {
    bytes_ += bytes;
    has_given_back_ = true;
  }

  /// Notes that `bytes` of free memory stay outside of the page cache, for a later look.
  void note_kept(std::size_t bytes);

  /// The call that returns them pays for the way back of so many bytes; later ones for the rest.
  void charge(std::size_t bytes) { bytes_ = bytes; }

  /// Bytes of all spans that were added, and pages that were noted.
  std::size_t bytes() const { return bytes_; }

  /// Frees the pages to the page cache now; the destructor then handles bytes above the cache's limit.
  void give_back();

 private:
  [[gnu::cold]] void finish();

  Span* first_ = nullptr;
  std::size_t bytes_ = 0;
  bool has_kept_much_ = false;
  bool has_given_back_ = false;
};

/// \returns whether free memory may stay with the tiers above until someone looks; false when the decay time
/// is 0.
bool may_keep_memory();

/// Whether a thread that ends may leave free memory outside of the page cache, for the next thread or the
/// next looks: when looks come, and `bytes` are worth one.
bool may_leave_memory(std::size_t bytes);
/// Call after it was left. \pre no lock is held.
void note_left_memory();

}  // namespace tarn::internal
