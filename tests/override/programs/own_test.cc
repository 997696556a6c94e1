// A test that fails: with Catch2 or without a framework, as the build says, and over a malloc of libc's.
#include <cstdio>
#include <cstdlib>

#if defined(WITH_CATCH2)  // in its place: what its macro is called, and takes
#define FAIL_CHECK(text) std::printf("%s:%d: Catch2: %s\n", __FILE__, __LINE__, text)
#endif
#include "tarn/testing.h"

int main() {
  const int text = 1;  // a name of the test's own hides nothing, and is not hidden
  TARN_EXPECT_NO_ALLOCATION std::free(std::malloc(text));
  return 0;
}
