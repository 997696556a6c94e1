#include "system/local_port.h"

#include <gtest/gtest.h>

#include "free_port.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

TEST(LocalPort, AcceptsConnectionsAsLongAsSomethingListens) {
  const int free = free_port();
  EXPECT_FALSE(accepts_connections(free));
  const Listener listener;
  EXPECT_TRUE(accepts_connections(listener.port()));
}

TEST(LocalPort, ThatNobodyListensOnNeverConnectsToItself) {
  const int port = free_port() & ~1;  // the kernel gives even ports to those who connect, as long as it can
  // More trials than there are such ports.
  for (int trial = 0; trial < 20000; ++trial) ASSERT_FALSE(accepts_connections(port)) << "trial " << trial;
}

TEST(LocalPort, ThatIsTakenIsRefusedByName) {
  const Listener listener;
  EXPECT_NO_THROW(require_free_port(free_port()));
  try {
    require_free_port(listener.port());
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), "port " + std::to_string(listener.port()) +
                                " is taken: something accepts connections there already");
  }
}

}  // namespace
}  // namespace tarn::tool
