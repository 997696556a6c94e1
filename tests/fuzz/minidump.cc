// Any bytes as a minidump.
#include "fuzz/dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::read_dump(tarn::observer::open_minidump, data, size);
  return 0;
}
