#include "elsewhere/all_headers.h"

std::size_t use_in_another_file() {
  tarn::FixedPool pool(64, "again");
  void* const block = pool.allocate();
  pool.deallocate(block);
  return pool.live_count();
}
