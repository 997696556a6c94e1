// Heaps with and without limits, over the library's pages and over a buffer of the caller's.
#include "tarn/heap.h"

#include <optional>

#include "fuzz/program.h"
#include "pool/heaps/heap_state.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{32} << 20, kLargest = std::size_t{2} << 20;
alignas(64 * 1024) char buffer[std::size_t{1} << 20];

HeapOptions read_options(Program& program) {
  HeapOptions options;
  if (program.flag()) options.hard_limit = program.below(kLargest);
  if (program.flag()) {
    const std::size_t skipped = program.below(256);
    options.buffer = buffer + skipped;
    options.buffer_bytes = program.below(sizeof buffer - skipped);
  }
  return options;
}

class HeapRun final : public Run {
 public:
  HeapRun(Program& program, const HeapOptions& options)
      : Run(program), limit_(options.hard_limit), is_in_buffer_(options.buffer != nullptr) {
    heap_.emplace(options);
  }

 private:
  void step(unsigned operation) override {
    switch (operation) {
      case 0:
      case 1:
      case 2:
        return allocate(program_.size_between(0, 2048), 0);
      case 3:
        return allocate(program_.size_between(0, kLargest), 0);
      case 4: {
        const std::size_t alignment = std::size_t{1} << program_.below(17);
        return allocate(program_.size_between(0, 64 * 1024), alignment);
      }
      case 5:
        return allocate_zeroed();
      case 6:
        return reallocate();
      case 7:
        heap_->release_unused();
        return check_counts();
      case 8:
        static_cast<void>(heap_->prewarm(program_.below(1 << 20)));
        return check_counts();
      case 9:
        limit_ = program_.flag() ? program_.below(kLargest) : SIZE_MAX;
        return heap_->set_limits(SIZE_MAX, limit_);
      case 10:
        if (program_.byte() % 4 != 0) return;
        heap_->clear();
        live_.forget_all();
        return check_counts();
      default:
        give_back_one();
    }
  }

  // A block counts with the bytes it has, which are fewer than twice those asked for, or an alignment more.
  bool may_refuse(std::size_t more) const {
    constexpr std::size_t kMostAlignment = 64 * 1024;
    const std::size_t live = heap_->use().live_bytes;
    return is_in_buffer_ || live > limit_ || 2 * more + kMostAlignment > limit_ - live;
  }

  void note(void* block, std::size_t size, std::size_t alignment) {
    if (block == nullptr) return check(may_refuse(size), "memory is refused at the limit alone");
    check(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "a block is aligned as asked");
    check(heap_->usable_size(block) >= size, "a block is as large as asked");
    check(heap_->owns(block), "a heap owns its blocks");
    live_.add(block, size);
    check(heap_->use().live_bytes <= limit_, "a heap keeps to its limit");
  }

  // An alignment of 0: the size's own.
  void allocate(std::size_t size, std::size_t alignment) {
    if (live_.bytes() > kMostBytes) return;
    if (alignment == 0) return note(heap_->allocate(size), size, size <= 8 ? 8 : 16);
    note(heap_->allocate(size, alignment), size, alignment);
  }

  void allocate_zeroed() {
    const std::size_t size = program_.size_between(0, 64 * 1024);
    void* const block = heap_->allocate_zeroed(1, size);
    check(block == nullptr || test::is_zero(block, size), "zeroed memory is zero");
    note(block, size, 8);
  }

  void reallocate() {
    if (live_.is_empty() || live_.bytes() > kMostBytes) return;
    const Block old = live_.take(program_);
    const std::size_t size = program_.size_between(1, kLargest);
    void* const block = heap_->reallocate(old.start, size);
    void* const kept = block == nullptr ? old.start : block;
    const std::size_t kept_size = block == nullptr || size > old.size ? old.size : size;
    check(test::holds(kept, kept_size, old.size, old.pattern), "a block that moves keeps its contents");
    live_.add(kept, block == nullptr ? old.size : size);
  }

  void end_pool() override { heap_.reset(); }
  void give_back(const Block& block) override {
    block.pattern % 2 == 0 ? heap_->deallocate(block.start) : tarn::deallocate(block.start);
  }

  void check_counts() const override {
    if (!heap_->is_valid()) return;
    std::size_t bytes = 0;
    live_.visit([&](const Block& block) { bytes += heap_->usable_size(block.start); });
    internal::validate(*detail::HeapAccess::state(*heap_));
    const HeapUse use = heap_->use();
    check(use.live_count == live_.count(), "a heap counts its live blocks");
    check(use.live_bytes == bytes, "a heap counts its live bytes");
    check(use.live_bytes <= use.peak_live_bytes, "a peak is the most there was");
    check_invariants();
  }

  std::size_t limit_;
  const bool is_in_buffer_;
  std::optional<Heap> heap_;
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarn::fuzz;
  Program program(data, size);
  const tarn::HeapOptions options = read_options(program);
  HeapRun(program, options).run_pool(14);
  return 0;
}
