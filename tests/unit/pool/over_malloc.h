// Pools that a test makes take their blocks from malloc.
#pragma once
#include <gtest/gtest.h>

#include <string_view>

#include "general/configuration.h"
#include "general/setup.h"

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
    const std::string_view text = value ? "pools_use_malloc:1" : "pools_use_malloc:0";
    configuration.set_all(text.data(), text.size(), "the test");
  }
};

}  // namespace tarn::internal
