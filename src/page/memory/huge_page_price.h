// Whether huge pages are worth their price on this machine now. Below a virtual machine there may be no
// memory behind a huge page yet: then its first touch takes up to six milliseconds, where the same bytes in
// small pages, of which the kernel has many ready, take one. So slabs' huge pages are timed where they are
// backed. Where two in turn are dear, none is asked for until the heap is twice as large. Times in, a verdict
// out: no clock.
//
// Threads: any; what is lost where two note at once does no harm.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "page/spans/chunk.h"

namespace tarn::internal {

class HugePagePrice {
 public:
  /// \param ns of backing `bytes` with small pages. \pre bytes != 0.
  void note_small(std::size_t bytes, std::uint64_t ns) {
    const std::uint64_t price = ns * kChunkBytes / bytes;
    small_ns_ = (3 * small_ns_ + price) / 4;
  }

  /// \param ns of backing a huge page, if it was not backed before. One that was dear may only have waited
  /// for a processor.
  void note_huge(std::uint64_t ns, std::size_t heap_bytes) {
    const bool is_dear = ns > small_ns_ + small_ns_ / 2;
    if (is_dear && last_was_dear_) dear_until_bytes_ = 2 * heap_bytes;
    if (is_dear || ns > kLeastHugeNs) last_was_dear_ = is_dear;
  }

  bool is_fair(std::size_t heap_bytes) const { return heap_bytes >= dear_until_bytes_; }

 private:
  static constexpr std::uint64_t kLeastHugeNs = 20'000;  // in less time none was cleared

  Relaxed<std::uint64_t> small_ns_{1'000'000};  // of as many bytes as a huge page has
  Relaxed<std::size_t> dear_until_bytes_{0};
  Relaxed<bool> last_was_dear_{false};
};

}  // namespace tarn::internal
