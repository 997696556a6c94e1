// What goes back to the page cache, collected while locks are held and given back once they are not.
//
// Spans that ended under a lock are added here. The destructor gives them to the page cache and then wakes
// whoever must be woken: so it must run with no lock held but kGiveBack's, and an object of this class is
// declared before the guard of the lock it outlives.
//
// Threads: one.
#pragma once
#include <cstddef>

#include "page/span.h"

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

  /// A span of the page cache's that has ended. \pre it is in no list, and nobody frees a block of it.
  void add(Span* span) {
    bytes_ += span->bytes();
    span->next = first_;
    first_ = span;
  }

  /// Pages went back without a span.
  void note_given_back() { has_given_back_ = true; }

  /// So many free bytes stay outside of the page cache; should nobody ask for them again, the helper comes
  /// for them.
  void note_kept(std::size_t bytes);

  /// Bytes of all spans that were added.
  std::size_t bytes() const { return bytes_; }

  /// Gives the pages to the page cache now; what then exceeds its limit is seen to by the destructor.
  void give_back();

 private:
  [[gnu::cold]] void finish();

  Span* first_ = nullptr;
  std::size_t bytes_ = 0;
  bool has_kept_much_ = false;
  bool has_given_back_ = false;
};

}  // namespace tarn::internal
