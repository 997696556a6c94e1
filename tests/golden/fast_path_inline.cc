// Instructions of the inlined API's hits. Each is inlined into a function that loads its argument or stores
// its result and returns, which is in the count.
#include "golden/instruction_count.h"
#include "tarn/memory_pool.h"

namespace {

void* out;
void* blocks[3][16];
int next[3] = {1, 1, 1};
constexpr std::size_t kSizes[] = {64, 1000, 5000};
volatile std::size_t size = 64;

// Leaves some blocks in each magazine and room for some.
void fill_magazines() {
  for (int i = 0; i < 3; ++i) {
    for (void*& block : blocks[i]) block = tarn::allocate(kSizes[i]);
    for (int j = 0; j < 8; ++j) tarn::deallocate(blocks[i][15 - j]);
  }
}

void allocate_constant_64() { out = tarn::allocate(64); }
void allocate_constant_1000() { out = tarn::allocate(1000); }
void allocate_constant_5000() { out = tarn::allocate(5000); }
void allocate_variable() { out = tarn::allocate(size); }
void deallocate_64() { tarn::deallocate(blocks[0][next[0]++]); }
void deallocate_5000() { tarn::deallocate(blocks[2][next[2]++]); }
void deallocate_sized_1000() { tarn::deallocate(blocks[1][next[1]++], 1000); }

}  // namespace

int main() {
  fill_magazines();
  const tarn::test::Operation operations[] = {
      {"allocate(64)", allocate_constant_64},          {"allocate(1000)", allocate_constant_1000},
      {"allocate(5000)", allocate_constant_5000},      {"allocate(size)", allocate_variable},
      {"deallocate, 64 bytes", deallocate_64},         {"deallocate, 5000 bytes", deallocate_5000},
      {"deallocate, told 1000", deallocate_sized_1000}};
  return tarn::test::print_instruction_counts(operations, sizeof operations / sizeof operations[0],
                                              tarn::test::Counted::kAll);
}
