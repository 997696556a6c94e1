// The general pool: blocks of all sizes, one at a time and in batches, freed by this thread and by another.
#include <cerrno>
#include <thread>

#include "fuzz/program.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{48} << 20, kLargest = std::size_t{3} << 20;
constexpr unsigned kMostThreads = 4;  // of a program: making one takes long

class GeneralPool final : public Run {
 public:
  using Run::Run;

  void run() {
    make_steps(16);
    give_back_all();
    check_nothing_is_lost();
  }

 private:
  void step(unsigned operation) override {
    const bool may_allocate = live_.bytes() < kMostBytes;
    switch (operation) {
      case 0:
      case 1:
      case 2:
      case 3:
        return may_allocate ? allocate(program_.size_between(0, 1024)) : give_back_one();
      case 4:
        return may_allocate ? allocate(program_.size_between(0, kLargest)) : give_back_one();
      case 5:
        return may_allocate ? allocate_aligned() : give_back_one();
      case 6:
        return may_allocate ? allocate_zeroed() : give_back_one();
      case 7:
        return may_allocate ? allocate_many() : deallocate_many();
      case 8:
        return reallocate();
      case 9:
        return deallocate_many();
      case 10:
        return deallocate_batch();
      case 11:
        return use_another_thread();
      case 12:
        static_cast<void>(trim(program_.below(1 << 20)));
        return check_invariants();
      default:
        return give_back_one();
    }
  }

  void note(void* block, std::size_t size, std::size_t alignment) {
    check(block != nullptr, "memory is not refused");
    check(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "a block is aligned as asked");
    check(usable_size(block) >= size, "a block is as large as asked");
    live_.add(block, size);
  }

  void allocate(std::size_t size) { note(tarn::allocate(size), size, size <= 8 ? 8 : 16); }

  void allocate_aligned() {
    const std::size_t alignment = std::size_t{1} << program_.below(17);
    const std::size_t size = program_.size_between(0, 64 * 1024);
    note(tarn::allocate(size, alignment), size, alignment);
  }

  void allocate_zeroed() {
    const std::size_t size = program_.size_between(0, 512 * 1024);
    void* const block = tarn::allocate_zeroed(1, size);
    check(block != nullptr && test::is_zero(block, size), "zeroed memory is zero");
    note(block, size, 8);
  }

  void allocate_many() {
    void* blocks[256];
    const std::size_t size = program_.size_between(1, 4096), count = program_.below(256);
    check(tarn::allocate_batch(size, count, blocks) == count, "a batch is had whole");
    for (std::size_t i = 0; i < count; ++i) note(blocks[i], size, 8);
  }

  void reallocate() {
    if (live_.is_empty()) return;
    const Block old = live_.take(program_);
    const std::size_t size = program_.size_between(1, live_.bytes() < kMostBytes ? kLargest : 1024);
    void* const block = tarn::reallocate(old.start, size);
    check(block != nullptr, "memory is not refused");
    check(test::holds(block, size < old.size ? size : old.size, old.size, old.pattern),
          "a block that moves keeps its contents");
    note(block, size, 8);
  }

  void give_back(const Block& block) override {
    block.size % 2 == 0 ? tarn::deallocate(block.start) : tarn::deallocate(block.start, block.size);
  }

  void deallocate_many() {
    for (std::size_t count = program_.below(256); count != 0 && !live_.is_empty(); --count)
      tarn::deallocate(live_.take_last().start);
  }

  void deallocate_batch() {
    void* blocks[256];
    std::size_t count = 0;
    const std::size_t wanted = program_.below(256);
    while (count < wanted && !live_.is_empty()) blocks[count++] = live_.take_last().start;
    tarn::deallocate_batch(blocks, count);
  }

  void use_another_thread() {
    if (++threads_ > kMostThreads) return;
    std::thread([this] {
      deallocate_many();
      for (unsigned i = program_.byte() % 64; i != 0; --i) step(program_.byte() % 11);
    }).join();
  }

  unsigned threads_ = 0;
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::Program program(data, size);
  tarn::fuzz::GeneralPool(program).run();
  return 0;
}
