// The same few loads on Linux and on Windows, for docs/windows.md: pairs, batches, and source 001's benchmark
// (20,480 blocks of random sizes per thread, then all are freed), by tarn, by the runtime's malloc, and on
// Windows by the process's heap and by _aligned_malloc. `tarn bench` is the one to measure Linux with.
//
// usage: both_systems [ROUNDS]: a round takes about a second for each row; the least of all is printed, in ns
// for a block.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tarn/memory_pool.h"

#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

struct Tarn {
  static constexpr const char* kName = "tarn";
  static void* allocate(std::size_t size) { return tarn::allocate(size); }
  static void deallocate(void* block) { tarn::deallocate(block); }
};
struct Malloc {
  static constexpr const char* kName = "malloc";
  static void* allocate(std::size_t size) { return std::malloc(size); }
  static void deallocate(void* block) { std::free(block); }
};
#if defined(_WIN32)
struct ProcessHeap {
  static constexpr const char* kName = "process heap";
  static void* allocate(std::size_t size) { return HeapAlloc(GetProcessHeap(), 0, size); }
  static void deallocate(void* block) { HeapFree(GetProcessHeap(), 0, block); }
};
struct AlignedMalloc {
  static constexpr const char* kName = "_aligned_malloc";
  static void* allocate(std::size_t size) { return _aligned_malloc(size, 16); }
  static void deallocate(void* block) { _aligned_free(block); }
};
#endif

/// Sizes from 1 to the largest, the same each time.
std::vector<unsigned> sizes_up_to(std::size_t largest, std::size_t count) {
  std::vector<unsigned> sizes(count);
  std::uint64_t state = 88172645463325252;
  for (unsigned& size : sizes) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    size = static_cast<unsigned>(state % largest) + 1;
  }
  return sizes;
}

template <typename Work>
double ns_each(std::size_t blocks, Work work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(blocks);
}

template <typename Heap>
double pairs(std::size_t size) {
  constexpr std::size_t kPairs = 50'000'000;
  return ns_each(kPairs, [&] {
    for (std::size_t i = 0; i < kPairs; ++i) {
      void* const block = Heap::allocate(size);
      *static_cast<volatile char*>(block) = 1;
      Heap::deallocate(block);
    }
  });
}

template <typename Heap>
void batches_of(const std::vector<unsigned>& sizes, std::size_t repeats) {
  std::vector<void*> blocks(sizes.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i] = Heap::allocate(sizes[i]);
      *static_cast<volatile char*>(blocks[i]) = 1;
    }
    for (void* const block : blocks) Heap::deallocate(block);
  }
}

template <typename Heap>
double batches(std::size_t largest, std::size_t count, unsigned threads) {
  const std::size_t repeats = 10'000'000 / count / threads;
  const std::vector<unsigned> sizes = sizes_up_to(largest, count);
  return ns_each(repeats * count * threads, [&] {
    std::barrier start(threads);
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i)
      running.emplace_back([&] {
        start.arrive_and_wait();
        batches_of<Heap>(sizes, repeats);
      });
    for (std::thread& thread : running) thread.join();
  });
}

template <typename Run>
void row(const char* load, const char* heap, int rounds, Run run) {
  double least = 1e9;
  for (int round = 0; round < rounds; ++round) least = std::min(least, run());
  std::printf("%-34s %-16s %8.2f\n", load, heap, least);
  std::fflush(stdout);
}

template <typename Heap>
void all_rows(int rounds) {
  constexpr std::size_t kBlocksOf001 = 20480;
  row("pairs of 64 bytes", Heap::kName, rounds, [] { return pairs<Heap>(64); });
  row("batches of 1000, up to 512 bytes", Heap::kName, rounds, [] { return batches<Heap>(512, 1000, 1); });
  for (const unsigned threads : {1u, 2u, 8u})
    for (const std::size_t largest : {1024u, 8192u, 16344u, 32767u}) {
      char load[64];
      std::snprintf(load, sizeof load, "001, %u threads, up to %u bytes", threads,
                    static_cast<unsigned>(largest));
      row(load, Heap::kName, rounds, [&] { return batches<Heap>(largest, kBlocksOf001, threads); });
    }
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 3;
  all_rows<Tarn>(rounds);
  all_rows<Malloc>(rounds);
#if defined(_WIN32)
  all_rows<ProcessHeap>(rounds);
  all_rows<AlignedMalloc>(rounds);
#endif
}
