// Libraries with a malloc that goes wrong, for `tarn bench` to find out. Which one this is, the build says.
// Each serves well until a program has called it often, so that the fault is met by a workload and not by the
// start of the process.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_realloc(void* block, std::size_t bytes);
extern "C" void __libc_free(void* block);

namespace {

constexpr unsigned kGoodCalls = 300;
std::atomic<unsigned> calls{0};

#if defined(FAKE_OVERLAPPING)
constexpr std::size_t kTwin = 96;  // bytes that two blocks share
std::atomic<void*> handed_out{nullptr};

/// Every block of that size after the first good ones is the same one, whichever thread asks.
void* allocate(std::size_t bytes) {
  if (bytes != kTwin || calls.load() < kGoodCalls) return __libc_malloc(bytes);
  void* twin = handed_out.load();
  if (twin != nullptr) return twin;
  void* const block = __libc_malloc(bytes);
  if (handed_out.compare_exchange_strong(twin, block)) return block;
  __libc_free(block);  // another thread was first: its block is the one
  return twin;
}
#elif defined(FAKE_HANGING)
void* allocate(std::size_t bytes) {
  while (calls.load() >= kGoodCalls) pause();
  return __libc_malloc(bytes);
}
#elif defined(FAKE_FAILING)
void* allocate(std::size_t bytes) {
  if (calls.load() < kGoodCalls) return __libc_malloc(bytes);
  constexpr char kWords[] = "fake malloc: out of order\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kWords, sizeof kWords - 1);
  std::abort();
}
#endif

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  ++calls;
  return allocate(bytes);
}

extern "C" void free(void* block) {
#if defined(FAKE_OVERLAPPING)
  if (block == handed_out.load()) return;
#endif
  __libc_free(block);
}

#if defined(FAKE_OVERLAPPING)
/// The twin never goes back to glibc, also not when it grows.
extern "C" void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr || block != handed_out.load()) return __libc_realloc(block, bytes);
  void* const grown = malloc(bytes);
  if (grown != nullptr && grown != block) std::memcpy(grown, block, std::min(bytes, kTwin));
  return grown;
}
#endif
