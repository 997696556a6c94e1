// A library whose constructor calls the function that its program names: meanwhile the thread holds the
// loader's locks.
#include <link.h>

#include <cstdlib>

[[gnu::constructor]] static void call_back() {
  const char* const address = std::getenv("TARN_TEST_CALL_BACK");
  if (address == nullptr) return;
  auto* const function = reinterpret_cast<void (*)()>(std::strtoull(address, nullptr, 16));
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* context) {
        reinterpret_cast<void (*)()>(context)();
        return 1;
      },
      reinterpret_cast<void*>(function));
}
