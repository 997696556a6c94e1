// What is still resident after a program has freed its memory and sits idle: allocates 1 GiB of small blocks,
// frees all, and reads its resident set at once, after some idle seconds, and after malloc_trim(0).
//
//   return_memory [--sizes 64|512|mixed] [--order forward|random] [--bytes N] [--idle 1,2,5,10]
//
// Prints one JSON line. Malloc form only; LD_PRELOAD chooses the allocator. The list of blocks is mapped and
// unmapped, so that it counts in no figure.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "clock.h"
#include "random.h"
#include "table.h"

namespace {

using tarn::bench::Random;
using tarn::bench::Table;

constexpr std::size_t kSmallestMixedBytes = 16;
constexpr std::size_t kLargestMixedBytes = 1024;

struct Options {
  const char* sizes = "mixed";
  const char* order = "forward";
  std::size_t bytes = std::size_t{1} << 30;
  const char* idle_seconds = "1,2,5,10";
};

[[noreturn]] void usage() {
  std::fputs(
      "usage: return_memory [--sizes 64|512|mixed] [--order forward|random] [--bytes N] [--idle 1,2,5]\n",
      stderr);
  std::exit(2);
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) usage();
    const char* const value = arguments[i + 1];
    if (std::strcmp(arguments[i], "--sizes") == 0)
      options.sizes = value;
    else if (std::strcmp(arguments[i], "--order") == 0)
      options.order = value;
    else if (std::strcmp(arguments[i], "--bytes") == 0)
      options.bytes = std::strtoull(value, nullptr, 10);
    else if (std::strcmp(arguments[i], "--idle") == 0)
      options.idle_seconds = value;
    else
      usage();
  }
  return options;
}

double resident_mib() {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return -1;
  text[length] = '\0';
  char* resident = nullptr;
  std::strtoull(text, &resident, 10);
  const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<double>(std::strtoull(resident, nullptr, 10)) * page_bytes / (1 << 20);
}

class Sizes {
 public:
  explicit Sizes(const char* name) : fixed_bytes_(std::strtoull(name, nullptr, 10)) {
    if (fixed_bytes_ == 0 && std::strcmp(name, "mixed") != 0) usage();
  }
  std::size_t smallest() const { return fixed_bytes_ != 0 ? fixed_bytes_ : kSmallestMixedBytes; }
  std::size_t next() {
    return fixed_bytes_ != 0 ? fixed_bytes_ : random_.between(kSmallestMixedBytes, kLargestMixedBytes);
  }

 private:
  std::size_t fixed_bytes_;
  Random random_{1};
};

struct Fill {
  std::size_t blocks = 0;
  double resident_mib = 0;
};

/// Allocates, writes and frees `options.bytes` of blocks.
Fill fill_and_free(const Options& options) {
  Sizes sizes(options.sizes);
  Table<void*> blocks(options.bytes / sizes.smallest() + 1);
  const double before_mib = resident_mib();
  Fill fill;
  for (std::size_t total = 0; total < options.bytes; ++fill.blocks) {
    const std::size_t bytes = sizes.next();
    blocks[fill.blocks] = std::malloc(bytes);
    if (blocks[fill.blocks] == nullptr) std::abort();
    std::memset(blocks[fill.blocks], 1, bytes);
    total += bytes;
  }
  fill.resident_mib = resident_mib() - before_mib;
  if (std::strcmp(options.order, "random") == 0) {
    Random random(2);
    for (std::size_t i = fill.blocks - 1; i > 0; --i) std::swap(blocks[i], blocks[random.between(0, i)]);
  }
  for (std::size_t i = 0; i < fill.blocks; ++i) std::free(blocks[i]);
  return fill;
}

void sleep_until(std::uint64_t first_ns, double seconds) {
  const auto target_ns = first_ns + static_cast<std::uint64_t>(seconds * 1e9);
  for (std::uint64_t now = tarn::bench::now_ns(); now < target_ns; now = tarn::bench::now_ns()) {
    usleep(static_cast<useconds_t>((target_ns - now) / 1000 + 1));
  }
}

void report_idle(const char* idle_seconds) {
  const std::uint64_t first_ns = tarn::bench::now_ns();
  const char* rest = idle_seconds;
  while (*rest != '\0') {
    char* end = nullptr;
    const double seconds = std::strtod(rest, &end);
    if (end == rest) break;
    sleep_until(first_ns, seconds);
    std::printf(",\"after_%g_s_mib\":%.1f", seconds, resident_mib());
    rest = *end == ',' ? end + 1 : end;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  const double start_mib = resident_mib();
  const Fill fill = fill_and_free(options);
  std::printf(
      "{\"sizes\":\"%s\",\"order\":\"%s\",\"blocks\":%zu,\"start_mib\":%.1f,\"filled_mib\":%.1f,\"freed_"
      "mib\":%.1f",
      options.sizes, options.order, fill.blocks, start_mib, fill.resident_mib, resident_mib());
  report_idle(options.idle_seconds);
  malloc_trim(0);
  std::printf(",\"trimmed_mib\":%.1f}\n", resident_mib());
}
