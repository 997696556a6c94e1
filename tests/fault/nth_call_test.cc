// The Nth call to the system fails, for every N until a scenario needs fewer: each in a fresh process, so
// that the calls of the set-up fail as well.
#include "fault/fault_injection.h"
#include "fault/scenario.h"
#include "support/child.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"

namespace tarn::test {
namespace {

constexpr int kNoCallFailed = 0, kSomeCallFailed = 100, kWrong = 101;
constexpr unsigned kLargestNumber = 5000;
// A process that a sanitizer watches takes long to fork: of its calls one in four fails, others in each run.
constexpr unsigned kStep = kSanitizer ? 4 : 1;

struct Scenario {
  const char* name;
  int (*run)();
};

constexpr Scenario kScenarios[] = {{"MixedSizes", allocate_mixed_sizes},
                                   {"LargeBlocks", allocate_large_blocks},
                                   {"Reallocation", reallocate_blocks},
                                   {"Alignment", allocate_aligned_blocks},
                                   {"ZeroedMemory", allocate_zeroed_blocks},
                                   {"Batches", allocate_batches},
                                   {"Threads", allocate_in_threads},
                                   {"RemoteFrees", free_from_another_thread},
                                   {"FixedPools", use_fixed_pools},
                                   {"BufferPools", use_buffer_pools},
                                   {"ObjectPools", use_object_pools},
                                   {"Heaps", use_heaps},
                                   {"Arenas", use_arenas},
                                   {"HandlerMemory", use_handler_memory}};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

int run_with_fault(const Scenario& scenario, unsigned kinds, unsigned number, FaultInjection::Extent extent) {
  int line = 0;
  bool has_failed_one = false;
  {
    const FaultInjection faults(kinds, number, extent);
    line = scenario.run();
    has_failed_one = FaultInjection::has_failed_one();
  }
  validate_library();
  if (line == 0) line = allocate_everything();
  if (line != 0) {
    std::printf("scenario.cc:%d\n", line);
    return kWrong;
  }
  return has_failed_one ? kSomeCallFailed : kNoCallFailed;
}

class NthCall : public ::testing::TestWithParam<Scenario> {
 protected:
  void fail_each(unsigned kinds, FaultInjection::Extent extent) {
    const auto first = static_cast<unsigned>(fresh_seed() % kStep);
    for (unsigned number = first; number < kLargestNumber; number += kStep) {
      const ChildResult result =
          run_in_child([&] { return run_with_fault(GetParam(), kinds, number, extent); });
      if (result.exit_status == kNoCallFailed) return;
      ASSERT_EQ(result.exit_status, kSomeCallFailed) << "call " << number << ": " << result.describe();
    }
    FAIL() << "the scenario never ended";
  }
};

TEST_P(NthCall, FailsAloneAndOnlyNullIsSeen) {
  fail_each(FaultInjection::kAllKinds, FaultInjection::Extent::kOne);
}

TEST_P(NthCall, FailsWithAllLaterOnesAndMemoryIsHadAgainAfterwards) {
  fail_each(FaultInjection::kAllKinds, FaultInjection::Extent::kAllFromThere);
}

INSTANTIATE_TEST_SUITE_P(Of, NthCall, ::testing::ValuesIn(kScenarios), ::testing::PrintToStringParamName());

struct Kind {
  const char* name;
  Call call;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class EveryCallOfAKind : public ::testing::TestWithParam<Kind> {};

TEST_P(EveryCallOfAKind, FailsFromTheStart) {
  for (const Scenario& scenario : kScenarios) {
    const ChildResult result = run_in_child([&] {
      return run_with_fault(scenario, FaultInjection::kind(GetParam().call), 0,
                            FaultInjection::Extent::kAllFromThere);
    });
    EXPECT_NE(result.exit_status, kWrong) << scenario.name << ": " << result.describe();
    EXPECT_EQ(result.signal, 0) << scenario.name << ": " << result.describe();
  }
}

// Where memory runs out in the middle of the work and stays so.
TEST_P(EveryCallOfAKind, FailsFromTheFifthOn) {
  for (const Scenario& scenario : kScenarios) {
    const ChildResult result = run_in_child([&] {
      return run_with_fault(scenario, FaultInjection::kind(GetParam().call), 4,
                            FaultInjection::Extent::kAllFromThere);
    });
    EXPECT_NE(result.exit_status, kWrong) << scenario.name << ": " << result.describe();
    EXPECT_EQ(result.signal, 0) << scenario.name << ": " << result.describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Is, EveryCallOfAKind,
                         ::testing::Values(Kind{"Reserve", Call::kReserve}, Kind{"Map", Call::kMap},
                                           Kind{"Commit", Call::kCommit}, Kind{"Purge", Call::kPurge},
                                           Kind{"Move", Call::kMove}, Kind{"Dump", Call::kDump}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace tarn::test
