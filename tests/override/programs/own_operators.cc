// A program's own basic operators, as some programs have them and nothing more: each block has a header, so
// that a block of theirs given to another's delete, or the reverse, is seen. Built into programs and into a
// library.
#include "own_operators.h"

#include <cstdlib>
#include <cstring>

namespace {

constexpr unsigned long kMark = 0x6f776e206f706572;
constexpr std::size_t kHeaderBytes = 128;  // as much as any alignment that the test asks for

OwnCounts counts;
bool must_throw = false;

void* allocate(std::size_t size, std::size_t alignment) {
  if (must_throw) throw std::bad_alloc();
  void* start = nullptr;
  if (posix_memalign(&start, alignment, size + kHeaderBytes) != 0) throw std::bad_alloc();
  std::memcpy(start, &kMark, sizeof kMark);
  return static_cast<char*>(start) + kHeaderBytes;
}

void deallocate(void* block) {
  void* const start = static_cast<char*>(block) - kHeaderBytes;
  if (std::memcmp(start, &kMark, sizeof kMark) != 0) return void(++counts.foreign_blocks);
  std::memset(start, 0, sizeof kMark);
  std::free(start);
}

}  // namespace

extern "C" OwnCounts* own_operator_counts() { return &counts; }
extern "C" void let_own_operators_throw(int whether) { must_throw = whether != 0; }

void* operator new(std::size_t size) {
  ++counts.news;
  return allocate(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++counts.aligned_news;
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  ++counts.deletes;
  if (block != nullptr) deallocate(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  ++counts.aligned_deletes;
  if (block != nullptr) deallocate(block);
}
