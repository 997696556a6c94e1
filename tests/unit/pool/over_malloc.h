// Pools that a test makes take their blocks from malloc.
#pragma once
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "support/prelude.h"

namespace tarn::internal {

class OverMalloc : public ::testing::Test {
 protected:
  OverMalloc() {
    set_up_once();
    use_malloc(true);
  }
  ~OverMalloc() override { use_malloc(false); }

  /// For pools that are made from now on.
  static void use_malloc(bool value) {
    configuration.set_all(value ? "pools_use_malloc:1" : "pools_use_malloc:0", "the test");
  }
};

}  // namespace tarn::internal
