// A plugin that leaks. TARN_LEAKING names its function, and nothing else is different in two of them.
#include <cstdlib>
#include <cstring>

extern "C" [[gnu::noinline]] void* TARN_LEAKING(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  std::memset(block, 1, bytes);
  return block;
}

extern "C" void run() {
  for (int i = 0; i < 50; ++i) TARN_LEAKING(1234);
}
