// Every entry point of malloc through the C ABI. Runs with the library preloaded, and so tests what it
// exports.
#include <dlfcn.h>
#include <malloc.h>

#include "support/content.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

template <typename Function>
Function exported(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

TEST(CFunctions, AreThoseOfTheLibrary) {
  for (const char* name : {"malloc",
                           "calloc",
                           "realloc",
                           "free",
                           "free_sized",
                           "free_aligned_sized",
                           "posix_memalign",
                           "aligned_alloc",
                           "memalign",
                           "valloc",
                           "pvalloc",
                           "cfree",
                           "malloc_usable_size",
                           "malloc_trim",
                           "mallinfo",
                           "mallinfo2",
                           "malloc_info",
                           "malloc_stats",
                           "mallopt",
                           "_Znwm",
                           "_ZdlPv"}) {
    Dl_info info{};
    void* const function = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(function, nullptr) << name;
    ASSERT_NE(dladdr(function, &info), 0) << name;
    EXPECT_NE(std::strstr(info.dli_fname, "libtarn"), nullptr) << name << " is in " << info.dli_fname;
  }
}

TEST(CFunctions, FreeTakesBlocksOfAllOfThem) {
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    void* block = nullptr;
    ASSERT_EQ(posix_memalign(&block, 64, size), 0);
    EXPECT_EQ(address(block) % 64, 0u);
    free(block);
    for (void* each : {malloc(size), calloc(1, size), realloc(nullptr, size), reallocarray(nullptr, size, 1),
                       aligned_alloc(128, size), memalign(256, size), valloc(size), pvalloc(size)}) {
      ASSERT_NE(each, nullptr) << size;
      ASSERT_GE(malloc_usable_size(each), size);
      fill(each, size, size);
      free(each);
    }
  }
}

TEST(CFunctions, SizedAndOldFormsOfFreeWork) {
  const auto free_sized = exported<void (*)(void*, std::size_t)>("free_sized");
  const auto free_aligned_sized = exported<void (*)(void*, std::size_t, std::size_t)>("free_aligned_sized");
  const auto cfree = exported<void (*)(void*)>("cfree");
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    free_sized(malloc(size), size);
    free_aligned_sized(aligned_alloc(64, size), 64, size);
    cfree(malloc(size));
  }
  free_sized(nullptr, 0);
  free_aligned_sized(nullptr, 0, 0);
  cfree(nullptr);
}

TEST(CFunctions, PageAlignedFormsAlignToPages) {
  const std::size_t page = 4096;
  EXPECT_EQ(address(valloc(1)) % page, 0u);
  EXPECT_EQ(address(pvalloc(1)) % page, 0u);
  EXPECT_GE(malloc_usable_size(pvalloc(1)), page);
  EXPECT_GE(malloc_usable_size(pvalloc(page + 1)), 2 * page);
  EXPECT_NE(pvalloc(0), nullptr);
}

TEST(CFunctions, PosixMemalignLeavesErrnoAndTheResultAloneWhenItFails) {
  void* const untouched = &errno;
  void* block = untouched;
  errno = 77;
  for (const std::size_t alignment : {0u, 1u, 2u, 4u, 7u, 12u, 24u, 100u}) {
    EXPECT_EQ(posix_memalign(&block, opaque(std::size_t{alignment}), 100), EINVAL) << alignment;
  }
  EXPECT_EQ(posix_memalign(&block, 64, opaque(std::size_t{SIZE_MAX})), ENOMEM);
  EXPECT_EQ(block, untouched);
  EXPECT_EQ(errno, 77);
}

TEST(CFunctions, BadAlignmentsAndSizesAreRefused) {
  errno = 0;
  EXPECT_EQ(aligned_alloc(opaque(std::size_t{24}), 100), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(pvalloc(opaque(std::size_t{SIZE_MAX})), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(valloc(opaque(std::size_t{SIZE_MAX})), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(memalign(opaque(std::size_t{SIZE_MAX}), 100), nullptr);
  EXPECT_TRUE(errno == ENOMEM || errno == EINVAL);
}

TEST(CFunctions, MemalignRoundsAnAlignmentUp) {
  void* const block = memalign(opaque(std::size_t{48}), 100);
  EXPECT_EQ(address(block) % 64, 0u);
  free(block);
}

TEST(CFunctions, ReallocarrayChecksItsProductAndKeepsTheBlock) {
  void* const block = malloc(100);
  fill(block, 100, 5);
  errno = 0;
  EXPECT_EQ(reallocarray(opaque(block), opaque(SIZE_MAX / 2), 3), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_TRUE(holds(block, 100, 5));
  free(block);
}

TEST(CFunctions, FreeKeepsErrno) {
  for (const std::size_t size : landmark_sizes(64 * kMiB)) {
    void* const block = malloc(size);
    fill(block, size, 0);
    errno = 77;
    free(block);
    EXPECT_EQ(errno, 77) << size;
  }
}

TEST(CFunctions, MalloptKnowsGlibcsParametersOnly) {
  for (const int parameter : {M_MXFAST, M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX, M_PERTURB,
                              M_ARENA_TEST, M_ARENA_MAX})
    EXPECT_EQ(mallopt(parameter, 64 * 1024 * 1024), 1) << parameter;
  EXPECT_EQ(mallopt(12345, 1), 0);
}

}  // namespace
}  // namespace tarn::test
