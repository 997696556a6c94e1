// For counting instructions under callgrind: the same number of operations in several shapes, so that the
// difference between two runs is what malloc and free cost.
//
//   fast_path empty|pair|batch|constant COUNT [BYTES]
//
// empty     the loop alone
// pair      allocate and free one block, COUNT times; the size is known at run time only
// batch     allocate 1000 blocks, then free them, COUNT blocks in all
// constant  pair with a size of 64 bytes known at compile time
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "use.h"
#ifdef TARN_BENCH_INLINE
#include "tarn_inline.h"
#else
#include "malloc_api.h"
#endif

namespace {

using tarn::bench::escape;
#ifdef TARN_BENCH_INLINE
using Api = tarn::bench::TarnInline;
#else
using Api = tarn::bench::Malloc;
#endif

constexpr std::size_t kConstantBytes = 64;
constexpr std::size_t kBatchBlocks = 1000;

/// The same size, but the compiler cannot compute from it outside of the loop.
[[gnu::always_inline]] inline std::size_t unknown(std::size_t bytes) {
  asm volatile("" : "+r"(bytes));
  return bytes;
}

[[gnu::noinline]] void run_empty(std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < count; ++i) asm volatile("" : : "r"(bytes));
}

[[gnu::noinline]] void run_pair(std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes = unknown(bytes);
    Api::deallocate(escape(Api::allocate(bytes)), bytes);
  }
}

[[gnu::noinline]] void run_batch(std::size_t count, std::size_t bytes) {
  static std::array<void*, kBatchBlocks> blocks;
  for (std::size_t done = 0; done < count; done += kBatchBlocks) {
    for (void*& block : blocks) block = escape(Api::allocate(unknown(bytes)));
    for (void* block : blocks) Api::deallocate(block, unknown(bytes));
  }
}

[[gnu::noinline]] void run_constant(std::size_t count, std::size_t) {
  for (std::size_t i = 0; i < count; ++i)
    Api::deallocate(escape(Api::allocate(kConstantBytes)), kConstantBytes);
}

struct Shape {
  const char* name;
  void (*run)(std::size_t count, std::size_t bytes);
};
constexpr Shape kShapes[] = {
    {"empty", run_empty}, {"pair", run_pair}, {"batch", run_batch}, {"constant", run_constant}};

}  // namespace

int main(int count, char** arguments) {
  if (count >= 3) {
    const std::size_t operations = std::strtoull(arguments[2], nullptr, 10);
    const std::size_t bytes = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : kConstantBytes;
    for (const Shape& shape : kShapes) {
      if (std::strcmp(shape.name, arguments[1]) != 0) continue;
      shape.run(operations, bytes);
      return 0;
    }
  }
  std::fputs("usage: fast_path empty|pair|batch|constant COUNT [BYTES]\n", stderr);
  return 2;
}
