// One thread's programs: every order of freeing in every range of sizes, with fixed seeds and a fresh one.
#include <tuple>

#include "model/model.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Parameters = std::tuple<FreeOrder, SizeRange>;

std::string name_of(const ::testing::TestParamInfo<Parameters>& info) {
  static constexpr const char* kOrders[] = {"Lifo", "Fifo", "Random", "Interleaved"};
  return std::string(kOrders[static_cast<int>(std::get<0>(info.param))]) + std::get<1>(info.param).name;
}

class Programs : public ::testing::TestWithParam<Parameters> {
 protected:
  void run(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [order, range] = GetParam();
    Model<PoolUnderTest> model(seed, order, range, range.largest <= kMiB ? 16 * kMiB : 48 * kMiB);
    const std::uint64_t operations = range.largest <= 1024 ? 30000 : range.least > 256 * kKiB ? 1000 : 5000;
    model.run(amount(operations, operations * 50));
    model.run_waves(static_cast<unsigned>(amount(6, 60)), 4000);
    model.free_all();
    EXPECT_TRUE(model.is_empty());
  }
};

TEST_P(Programs, OfRandomOperationsNeverOverlapAndKeepContents) {
  for (const std::uint64_t seed : {1u, 2u}) run(seed);
}

TEST_P(Programs, WithASeedNobodyTriedNeverOverlapAndKeepContents) { run(fresh_seed()); }

INSTANTIATE_TEST_SUITE_P(FreeOrders, Programs,
                         ::testing::Combine(::testing::Values(FreeOrder::kLifo, FreeOrder::kFifo,
                                                              FreeOrder::kRandom, FreeOrder::kInterleaved),
                                            ::testing::Values(kTiny, kSmall, kMedium, kLarge, kAll)),
                         name_of);

}  // namespace
}  // namespace tarn::test
