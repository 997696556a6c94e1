// What a block of statements may allocate, as a test checks it. With GoogleTest's or Catch2's header before
// this one a failure is theirs; without either it ends the program. malloc must be tarn's.
#include "tarn/testing.h"

#include <numeric>
#include <vector>

int main() {
  std::vector<int> numbers(1000, 2);
  int sum = 0;
  TARN_EXPECT_NO_ALLOCATION { sum = std::accumulate(numbers.begin(), numbers.end(), 0); }
  TARN_EXPECT_PEAK_BELOW(64 * 1024) { numbers.resize(2000); }
  return sum == 2000 ? 0 : 1;
}
