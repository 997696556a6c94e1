// Residency of a process with very many runs of resident pages, of which the kernel tells in several parts.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "observer/process/residency.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kOsPage = 4096, kRuns = 6000;

/// Every second page is written.
class StripedMemory {
 public:
  StripedMemory() {
    madvise(memory_, kBytes, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < kRuns; ++i) memory_[2 * i * kOsPage] = 1;
  }
  ~StripedMemory() { munmap(memory_, kBytes); }
  StripedMemory(const StripedMemory&) = delete;
  StripedMemory& operator=(const StripedMemory&) = delete;
  Address start() const { return reinterpret_cast<Address>(memory_); }
  Address end() const { return start() + kBytes; }

 private:
  static constexpr std::size_t kBytes = 2 * kRuns * kOsPage;
  char* const memory_ =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

std::uint64_t rss_as_the_kernel_sums_it() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);)
    if (line.starts_with("Rss:")) return std::stoull(line.substr(4)) * 1024;
  return 0;
}

TEST(Residency, ManyRunsAreEachToldOnceAndInOrder) {
  const StripedMemory memory;
  const auto residency = read_residency(*open_own_process());
  ASSERT_TRUE(residency);
  EXPECT_EQ(residency->bytes_in(memory.start(), memory.end()), kRuns * kOsPage);
  Address end = 0;
  std::size_t out_of_order = 0;
  for (const ResidentRun& run : residency->runs()) {
    if (run.start <= end) ++out_of_order;
    end = run.end;
  }
  EXPECT_EQ(out_of_order, 0U);
}

TEST(Residency, OfManyRunsTheSumIsTheKernelsOwn) {
  const StripedMemory memory;
  const auto residency = read_residency(*open_own_process());
  ASSERT_TRUE(residency);
  const double expected = static_cast<double>(rss_as_the_kernel_sums_it());
  EXPECT_NEAR(static_cast<double>(residency->rss_bytes()), expected, 0.02 * expected);
}

}  // namespace
}  // namespace tarn::observer
