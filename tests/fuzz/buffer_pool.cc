// Buffer pools of any sizes and caps: plain blocks, shared buffers, slices and chains.
#include "tarn/buffer_pool.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <vector>

#include "fuzz/program.h"
#include "pool/buffers/buffer_pool_state.h"
#include "tarn/buffer_chain.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostHandles = 256;

BufferPoolOptions read_options(Program& program) {
  BufferPoolOptions options;
  options.smallest_bytes = program.size_between(1, 4096);
  options.largest_bytes = program.size_between(options.smallest_bytes, 64 * 1024);
  options.alignment = std::size_t{1} << program.below(10);
  options.largest_count = program.flag() ? 1 + program.below(300) : SIZE_MAX;
  options.chunk_bytes = program.flag() ? program.below(256 * 1024) : 0;
  options.above = program.flag() ? AboveLargest::kRefuse : AboveLargest::kHeap;
  options.largest_above_bytes = program.flag() ? program.below(1 << 20) : SIZE_MAX;
  options.at_end = AtPoolEnd::kDestroy;
  return options;
}

// Two sizes may become the same by their alignment.
bool are_valid(const BufferPoolOptions& options) {
  try {
    const BufferPool pool(options);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <typename Pool>
class BufferPoolRun final : public Run {
 public:
  BufferPoolRun(Program& program, const BufferPoolOptions& options)
      : Run(program), options_(options), pool_(std::in_place, options) {}

 private:
  void step(unsigned operation) override {
    if (operation < 4 && live_.bytes() > kMostBytes) operation = 12;
    switch (operation) {
      case 0:
      case 1:
        return note(program_.size_between(0, 2 * options_.largest_bytes));
      case 2:
        return note(program_.size_between(0, 256));
      case 3:
        return share();
      case 4:
        return copy();
      case 5:
        return append();
      case 6:
        return shorten_chain();
      case 7:
        return end_handle();
      case 8:
        pool_->reserve(program_.below(options_.largest_bytes), program_.below(100));
        return check_counts();
      case 9:
        pool_->release_unused();
        return check_counts();
      default:
        give_back_one();
    }
  }

  bool may_refuse(std::size_t bytes) const {
    return options_.largest_count != SIZE_MAX || bytes > options_.largest_bytes;
  }

  void note(std::size_t bytes) {
    void* const block = pool_->allocate(bytes);
    if (block == nullptr) return check(may_refuse(bytes), "a block is refused at a cap alone");
    check(reinterpret_cast<std::uintptr_t>(block) % options_.alignment == 0, "a block is aligned as asked");
    check(pool_->owns(block), "a pool owns its blocks");
    live_.add(block, bytes);
  }

  // Each buffer is filled with the number it is made with, which each of its handles must find.
  void share() {
    if (handles_.size() == kMostHandles) return;
    const std::size_t bytes = program_.size_between(0, options_.largest_bytes + 100);
    SharedBuffer buffer = pool_->allocate_shared(bytes);
    if (!buffer) return check(may_refuse(bytes), "a buffer is refused at a cap alone");
    check(buffer.size() == bytes && buffer.reference_count() == 1, "a buffer begins with one handle");
    std::fill_n(buffer.data(), bytes, ++last_content_);
    handles_.push_back({std::move(buffer), last_content_});
  }

  struct Held {
    SharedBuffer buffer;
    char content;
  };
  Held& any_handle() { return handles_[program_.below(handles_.size())]; }
  static void check_content(const SharedBuffer& buffer, char content) {
    check(std::count(buffer.data(), buffer.data() + buffer.size(), content) ==
              static_cast<std::ptrdiff_t>(buffer.size()),
          "a buffer keeps its contents while it has a handle");
  }

  void copy() {
    if (handles_.empty() || handles_.size() == kMostHandles) return;
    const Held& from = any_handle();
    const std::size_t before = from.buffer.reference_count(), size = from.buffer.size();
    const std::size_t first = program_.below(size + 1);
    Held part{from.buffer.slice(first, program_.below(size - first + 1)), from.content};
    check(part.buffer.reference_count() == before + 1, "a slice is one more handle");
    handles_.push_back(std::move(part));
  }

  void end_handle() {
    if (handles_.empty()) return;
    std::swap(any_handle(), handles_.back());
    check_content(handles_.back().buffer, handles_.back().content);
    handles_.pop_back();
  }

  void append() {
    if (handles_.empty() || chain_.count() == kMostHandles) return;
    const Held& held = any_handle();
    contents_.insert(contents_.end(), held.buffer.size(), held.content);
    chain_.append(held.buffer);
    check(chain_.bytes() == contents_.size(), "a chain has the bytes of its buffers");
  }

  void shorten_chain() {
    const std::size_t bytes = program_.below(chain_.bytes() + 1);
    check_chain();
    if (program_.flag()) {
      const BufferChain front = chain_.split(bytes);
      check(front.bytes() == bytes, "a split takes as many bytes as were asked for");
    } else {
      chain_.consume(bytes);
    }
    contents_.erase(contents_.begin(), contents_.begin() + static_cast<std::ptrdiff_t>(bytes));
    check_chain();
  }
  void check_chain() const {
    std::vector<char> found(chain_.bytes());
    check(chain_.copy_to(found.data(), found.size()) == found.size(), "a chain copies all its bytes");
    check(found == contents_, "a chain has the bytes of its buffers in their order");
  }
  // A buffer of n handles is found n times.
  std::size_t buffer_count() const {
    double count = 0;
    for (const Held& held : handles_) count += 1.0 / static_cast<double>(held.buffer.reference_count());
    for (std::size_t i = 0; i < chain_.count(); ++i)
      count += 1.0 / static_cast<double>(chain_[i].reference_count() - 1);
    return static_cast<std::size_t>(std::lround(count));
  }

  void give_back(const Block& block) override {
    switch (block.pattern % 3) {
      case 0:
        return pool_->deallocate(block.start);
      case 1:
        return pool_->deallocate(block.start, block.size);
      default:
        return tarn::deallocate(block.start);
    }
  }

  std::size_t live_count() const {
    std::size_t count = pool_->use_above().live_count;
    for (std::size_t i = 0; i < pool_->size_count(); ++i) count += pool_->use(i).live_count;
    return count;
  }
  void end_pool() override {
    handles_.clear();
    chain_ = {};  // with the memory of its list
    pool_.reset();
  }
  void check_counts() const override {
    check(live_count() == live_.count() + buffer_count(), "a buffer lives as long as its handles");
    for (std::size_t i = 0; i < pool_->size_count(); ++i) {
      const BufferUse use = pool_->use(i);
      check(use.live_count <= options_.largest_count, "a size keeps to its cap");
      check(use.live_bytes <= use.peak_live_bytes, "a peak is the most there was");
    }
    internal::validate(detail::BufferPoolAccess::state(const_cast<Pool&>(*pool_)));
    check_invariants();
  }

  const BufferPoolOptions options_;
  std::optional<Pool> pool_;
  std::vector<Held> handles_;
  BufferChain chain_;
  std::vector<char> contents_;  // of the chain
  char last_content_ = 0;
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarn::fuzz;
  Program program(data, size);
  const tarn::BufferPoolOptions options = read_options(program);
  if (!are_valid(options)) return 0;
  BufferPoolRun<tarn::BufferPool>(program, options).run_pool(16);
  return 0;
}
