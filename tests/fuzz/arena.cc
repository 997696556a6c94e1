// Arenas over the library's pages, a heap and a buffer: blocks, marks, and what runs when they end.
#include "tarn/arena.h"

#include <optional>

#include "fuzz/program.h"
#include "tarn/heap.h"

namespace tarn::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20, kLargest = std::size_t{1} << 20;
alignas(16) char buffer[std::size_t{64} * 1024];

ArenaOptions read_options(Program& program, Heap& heap) {
  ArenaOptions options;
  options.initial_bytes = program.size_between(1, 256 * 1024);
  options.increment_bytes = program.flag() ? program.size_between(1, 256 * 1024) : 0;
  if (program.flag()) options.mapped_limit = program.below(2 * kLargest);
  switch (program.below(3)) {
    case 1:
      options.heap = &heap;
      break;
    case 2:
      options.buffer = buffer + program.below(64);
      options.buffer_bytes = program.below(sizeof buffer - 64);
      break;
    default:
      break;
  }
  options.may_grow = program.byte() % 4 != 0;
  options.sensitive = program.flag();
  return options;
}

class ArenaRun {
 public:
  ArenaRun(Program& program, const ArenaOptions& options) : program_(program) { arena_.emplace(options); }

  void run() {
    while (!program_.is_over()) step(program_.byte() % 14);
    live_.check_all();
    arena_.reset();
    check(cleanups_ == 0, "what was registered runs when the arena ends");
  }

 private:
  struct Mark {
    ArenaMark mark;
    std::size_t blocks;
    std::size_t cleanups;
    std::size_t used;
  };

  void step(unsigned operation) {
    switch (operation) {
      case 0:
        return allocate(program_.size_between(0, kLargest), 16);
      case 1: {
        const std::size_t alignment = std::size_t{1} << program_.below(13);
        return allocate(program_.size_between(0, 4096), alignment);
      }
      case 2:
        return mark();
      case 3:
        return rewind();
      case 4:
        if (program_.byte() % 4 == 0) reset();
        return;
      case 5:
        return register_cleanup();
      case 6:
        arena_->release_unused();
        return check_invariants();
      case 7: {
        const std::size_t bytes = program_.below(kLargest);
        check(arena_->prewarm(bytes) <= arena_->capacity(), "no more can be had than there is");
        return;
      }
      default:
        return allocate(program_.size_between(0, 512), 16);
    }
  }

  void allocate(std::size_t size, std::size_t alignment) {
    if (arena_->capacity() > kMostBytes) return reset();
    void* const block = arena_->allocate(size, alignment);
    if (block == nullptr) return;
    check(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "a block is aligned as asked");
    check(size == 0 || arena_->owns(block), "an arena owns its blocks");
    check(arena_->used() <= arena_->capacity(), "no more is used than there is");
    live_.add(block, size);
  }

  void mark() { marks_.push_back({arena_->mark(), live_.count(), cleanups_, arena_->used()}); }

  void rewind() {
    if (marks_.empty()) return;
    marks_.resize(1 + program_.below(marks_.size()));
    const Mark mark = marks_.back();
    marks_.pop_back();
    end_blocks(mark.blocks);
    arena_->rewind(mark.mark);
    check(cleanups_ == mark.cleanups, "what was registered after the mark runs, and nothing else");
    check(arena_->used() == mark.used, "as much is used as at the mark");
  }

  void reset() {
    end_blocks(0);
    marks_.clear();
    arena_->reset();
    check(cleanups_ == 0, "what was registered runs at a reset");
    check(arena_->used() == 0, "nothing is used after a reset");
  }

  void end_blocks(std::size_t left) {
    while (live_.count() > left) live_.take_last();
  }

  void register_cleanup() {
    auto count_down = [](void* run) noexcept { --static_cast<ArenaRun*>(run)->cleanups_; };
    if (arena_->on_cleanup(count_down, this)) ++cleanups_;
  }

  Program& program_;
  std::optional<Arena> arena_;
  LiveBlocks live_;
  std::vector<Mark> marks_;
  std::size_t cleanups_ = 0;  // registered, not run yet
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarn::fuzz;
  Program program(data, size);
  {
    tarn::Heap heap;
    const tarn::ArenaOptions options = read_options(program, heap);
    ArenaRun(program, options).run();
    check(heap.use().live_count == 0, "an arena gives its chunks back to its heap");
  }
  check_invariants();
  return 0;
}
