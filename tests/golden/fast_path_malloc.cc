// Instructions of the drop-in library's hits, its own alone: from the entry of malloc or free to its return.
#include <cstdlib>
#include <new>

#include "golden/instruction_count.h"

namespace {

// Each size has its own magazine; a few blocks are in it and a few are out when the count is made.
template <std::size_t kSize>
void* blocks[16];

template <std::size_t kSize>
int next = 0;

void* (*volatile allocate)(std::size_t) = malloc;
void (*volatile deallocate)(void*) = free;
void* (*volatile allocate_new)(std::size_t) = operator new;
void* (*volatile allocate_array)(std::size_t) = operator new[];
void* (*volatile allocate_nothrow)(std::size_t, const std::nothrow_t&) = operator new;
void (*volatile deallocate_sized)(void*, std::size_t) = operator delete;
void (*volatile deallocate_array)(void*) = operator delete[];
void (*volatile deallocate_aligned)(void*, std::size_t, std::align_val_t) = operator delete;

template <std::size_t kSize>
void fill_magazine() {
  if (next<kSize> != 0) return;
  for (void*& block : blocks<kSize>) block = malloc(kSize);
  for (int i = 0; i < 8; ++i) free(blocks<kSize>[15 - i]);
  next<kSize> = 1;
}

template <std::size_t kSize>
void count_malloc() {
  allocate(kSize);
}
template <std::size_t kSize>
void count_free() {
  deallocate(blocks<kSize>[next<kSize> ++]);
}
template <std::size_t kSize>
void count_new() {
  allocate_new(kSize);
}
template <std::size_t kSize>
void count_new_array() {
  allocate_array(kSize);
}
template <std::size_t kSize>
void count_nothrow_new() {
  allocate_nothrow(kSize, std::nothrow);
}
template <std::size_t kSize>
void count_sized_delete() {
  deallocate_sized(blocks<kSize>[next<kSize> ++], kSize);
}
template <std::size_t kSize>
void count_array_delete() {
  deallocate_array(blocks<kSize>[next<kSize> ++]);
}
template <std::size_t kSize>
void count_aligned_delete() {
  deallocate_aligned(
      blocks<kSize>[next<kSize> ++], kSize, std::align_val_t { 64 });
}

}  // namespace

int main() {
  fill_magazine<8>();
  fill_magazine<64>();
  fill_magazine<1000>();
  fill_magazine<5000>();
  const tarn::test::Operation operations[] = {{"malloc(8)", count_malloc<8>},
                                              {"malloc(64)", count_malloc<64>},
                                              {"malloc(1000)", count_malloc<1000>},
                                              {"malloc(5000)", count_malloc<5000>},
                                              {"operator new(64)", count_new<64>},
                                              {"free, 8 bytes", count_free<8>},
                                              {"free, 64 bytes", count_free<64>},
                                              {"free, 5000 bytes", count_free<5000>},
                                              {"sized operator delete, 64", count_sized_delete<64>},
                                              {"operator new[](64)", count_new_array<64>},
                                              {"nothrow operator new(64)", count_nothrow_new<64>},
                                              {"operator delete[], 64", count_array_delete<64>},
                                              {"aligned delete, 64", count_aligned_delete<64>}};
  return tarn::test::print_instruction_counts(operations, sizeof operations / sizeof operations[0],
                                              tarn::test::Counted::kOutsideOfTheProgram);
}
