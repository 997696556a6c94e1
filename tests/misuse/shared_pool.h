// A fixed pool that threads take turns to use, until they have magazines.
#pragma once
#include <thread>

#include "tarn/fixed_pool.h"

struct SharedPackets : tarn::SharedFixedPool {
  SharedPackets() : SharedFixedPool({.block_bytes = 64, .name = "packets"}) {
    for (int turn = 0; turn < 64; ++turn) {
      deallocate(allocate());
      std::thread([this] { deallocate(allocate()); }).join();
    }
  }
};
