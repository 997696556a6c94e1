// Every form of operator new and delete gives a block of ours, aligned, and takes it back.
#include <dlfcn.h>
#include <malloc.h>

#include "support/content.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

constexpr std::align_val_t kAlign{128};

void expect_block(void* block, std::size_t size, std::size_t alignment = 16) {
  ASSERT_NE(block, nullptr) << size;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % (size <= 8 && alignment == 16 ? 8 : alignment), 0u)
      << size;
  ASSERT_GE(malloc_usable_size(block), size);
  fill(block, size, size);
}

TEST(OperatorNew, SingleForms) {
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    void* block = ::operator new(size);
    expect_block(block, size);
    ::operator delete(block);
    expect_block(block = ::operator new(size), size);
    ::operator delete(block, size);
    expect_block(block = ::operator new(size, std::nothrow), size);
    ::operator delete(block, std::nothrow);
  }
}

TEST(OperatorNew, ArrayForms) {
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    void* block = ::operator new[](size);
    expect_block(block, size);
    ::operator delete[](block);
    expect_block(block = ::operator new[](size), size);
    ::operator delete[](block, size);
    expect_block(block = ::operator new[](size, std::nothrow), size);
    ::operator delete[](block, std::nothrow);
  }
}

TEST(OperatorNew, AlignedForms) {
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    void* block = ::operator new(size, kAlign);
    expect_block(block, size, 128);
    ::operator delete(block, kAlign);
    expect_block(block = ::operator new(size, kAlign), size, 128);
    ::operator delete(block, size, kAlign);
    expect_block(block = ::operator new(size, kAlign, std::nothrow), size, 128);
    ::operator delete(block, kAlign, std::nothrow);
  }
}

TEST(OperatorNew, AlignedArrayForms) {
  for (const std::size_t size : landmark_sizes(3 * kMiB)) {
    void* block = ::operator new[](size, kAlign);
    expect_block(block, size, 128);
    ::operator delete[](block, kAlign);
    expect_block(block = ::operator new[](size, kAlign), size, 128);
    ::operator delete[](block, size, kAlign);
    expect_block(block = ::operator new[](size, kAlign, std::nothrow), size, 128);
    ::operator delete[](block, kAlign, std::nothrow);
  }
}

TEST(OperatorNew, NullIsIgnoredByEveryDelete) {
  ::operator delete(nullptr);
  ::operator delete[](nullptr);
  ::operator delete (nullptr, std::size_t{8});
  ::operator delete[](nullptr, std::size_t{8});
  ::operator delete(nullptr, kAlign);
  ::operator delete[](nullptr, kAlign);
  ::operator delete (nullptr, std::size_t{8}, kAlign);
  ::operator delete[](nullptr, std::size_t{8}, kAlign);
}

TEST(OperatorNew, NewAndFreeShareOnePool) {
  free(::operator new(100));
  ::operator delete(malloc(100));
}

// A base class without a virtual destructor tells delete too small a size.
TEST(OperatorNew, AWrongSizeToldToDeleteDoesNoHarm) {
  for (int i = 0; i < 1000; ++i) {
    ::operator delete (::operator new(1000), std::size_t{16});
    void* const block = ::operator new(16);
    EXPECT_LT(malloc_usable_size(block), 1000u);
    ::operator delete(block);
  }
}

struct alignas(64) Wide {
  char bytes[192];
};

TEST(OperatorNew, ExpressionsUseThem) {
  std::unique_ptr<Wide> one(new Wide);
  std::unique_ptr<Wide[]> many(new Wide[7]);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.get()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(many.get()) % 64, 0u);
}

}  // namespace
}  // namespace tarn::test
