#include <filesystem>

#include "support/error_of.h"
#include "support/prelude.h"
#include "trace/made_trace.h"
#include "trace/merge.h"

namespace tarn::trace {
namespace {

// -- The file: what is written comes back, and what is cut or changed is found out.

using test::event;

/// All that a file holds.
struct Trace {
  explicit Trace(TraceFile file)
      : description(file.description()),
        summary(file.summary()),
        event_count(file.event_count()),
        damage(file.damage()),
        threads(file.thread_count()) {
    for (std::uint32_t thread = 0; thread < file.thread_count(); ++thread)
      for (std::size_t i = 0; i < file.chunk_count(thread); ++i) {
        const ThreadEvents chunk = file.chunk(thread, i);
        threads[thread].events.insert(threads[thread].events.end(), chunk.events.begin(), chunk.events.end());
        threads[thread].orders.insert(threads[thread].orders.end(), chunk.orders.begin(), chunk.orders.end());
      }
  }
  Description description;
  Summary summary;
  std::uint64_t event_count;
  std::string damage;
  std::vector<ThreadEvents> threads;
};

class FileOfTrace : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "trace_file_test." + std::to_string(getpid());
    test::write_example(path_, 1000);
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static Trace read(const std::string& bytes, Damage damage = Damage::kRefuse,
                    const ReadLimits& limits = {}) {
    return Trace(TraceFile(std::make_unique<std::istringstream>(bytes), "x.trace", damage, limits));
  }

  std::string path_, bytes_;
};

constexpr auto error_of = test::error_of<TraceError, std::function<void()>>;

TEST_F(FileOfTrace, WhatIsWrittenComesBack) {
  const Trace trace = read(bytes_);
  EXPECT_EQ(trace.description.command, (std::vector<std::string>{"example", "--with", "two threads"}));
  EXPECT_EQ(trace.summary.peak_anonymous_bytes, 8u << 20);
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_EQ(trace.event_count, trace.threads[0].events.size() + trace.threads[1].events.size());
  EXPECT_EQ(trace.threads[0].events[1].size(), 96u);
  EXPECT_EQ(trace.threads[1].orders.front(), 100u);
  EXPECT_EQ(trace.threads[1].orders.back(), 999u);
  EXPECT_EQ(trace.damage, "");
}

TEST_F(FileOfTrace, AnOrderGoesOnWhereItsLowBitsBeginAgain) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 3; ++i)
    events.push_back(event(Operation::kAllocate, 4096 * (i + 1), 8, kOrderMask - 1 + i * 3));
  {
    TraceWriter writer(path_, {});
    writer.append(0, (std::uint64_t{5} << kOrderBits) + kOrderMask - 1, events);
    writer.finish({});
  }
  const Trace trace(TraceFile(path_, Damage::kRefuse));
  EXPECT_EQ(trace.threads[0].orders[2] - trace.threads[0].orders[0], 6u);
}

TEST_F(FileOfTrace, EventsTakeFewBytes) { EXPECT_LT(bytes_.size() / read(bytes_).event_count, 8u); }

TEST_F(FileOfTrace, EveryTruncatedFileIsRefusedWithTheByte) {
  for (std::size_t length = 0; length < bytes_.size(); length += 1 + length / 50) {
    const std::string error = error_of([&] { read(bytes_.substr(0, length)); });
    EXPECT_NE(error.find("x.trace: byte "), std::string::npos) << length << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST_F(FileOfTrace, EveryChangedByteIsFoundOut) {
  for (std::size_t at = 0; at < bytes_.size(); at += 1 + at / 100) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    EXPECT_NE(error_of([&] { read(changed); }), "") << at;
  }
}

TEST_F(FileOfTrace, ATruncatedFileIsReadInPartWhenAskedTo) {
  const Trace trace = read(bytes_.substr(0, bytes_.size() - 40), Damage::kUseWhatIsWhole);
  EXPECT_EQ(trace.event_count, read(bytes_).event_count);
  EXPECT_NE(trace.damage.find("truncated"), std::string::npos);
}

TEST_F(FileOfTrace, WhatIsNoTraceIsRefusedAlsoInPart) {
  EXPECT_NE(error_of([] { read("#!/bin/sh\n", Damage::kUseWhatIsWhole); }).find("no trace"),
            std::string::npos);
}

TEST_F(FileOfTrace, MoreEventsThanAllowedAreRefused) {
  EXPECT_NE(error_of([&] { read(bytes_, Damage::kRefuse, {.most_events = 100}); }).find("more events"),
            std::string::npos);
}

TEST_F(FileOfTrace, AFullDiskIsOneLine) {
  const std::string error = error_of([] { TraceWriter("/dev/full", {}); });
  EXPECT_EQ(error, "cannot write /dev/full: No space left on device");
}

// -- One order of all threads' events, told as blocks.

using test::made_trace;
using Kind = Happening::Kind;

struct Merged {
  std::vector<Happening> happenings;
  MergeCounts counts;
};

Merged merged(const std::vector<std::vector<Event>>& threads) {
  auto trace = made_trace(threads);
  Merged result;
  result.counts = Merger(trace, [&](const Happening& one) { result.happenings.push_back(one); }).to_end();
  return result;
}

TEST(Merge, AFreeOfAnotherThreadWaitsForTheAllocationOfTheSameNumber) {
  const Merged result =
      merged({{event(Operation::kFree, 0x1000, 0, 7)},
              {event(Operation::kAllocate, 0x2000, 8, 7), event(Operation::kAllocate, 0x1000, 8, 7)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[2].kind, Kind::kFree);
  EXPECT_EQ(result.happenings[2].block, result.happenings[1].block);
  EXPECT_EQ(result.counts.unknown_frees, 0u);
}

TEST(Merge, AnAddressIsHandedOutAgainAfterAnotherThreadsFree) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kAllocate, 0x1000, 9, 3)},
              {event(Operation::kFree, 0x1000, 0, 3)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
  EXPECT_EQ(result.happenings[2].size, 9u);
  EXPECT_EQ(result.counts.missed_frees, 0u);
}

TEST(Merge, AFreeOfAnOlderBlockIsLeftOutAndCounted) {
  const Merged result =
      merged({{event(Operation::kFree, 0x9000, 0, 1), event(Operation::kAllocate, 0x1000, 8, 2)}});
  EXPECT_EQ(result.happenings.size(), 1u);
  EXPECT_EQ(result.counts.unknown_frees, 1u);
}

TEST(Merge, ABlockWhoseFreeIsMissingEndsWhenItIsHandedOutAgain) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kAllocate, 0x1000, 8, 2)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
  EXPECT_EQ(result.counts.missed_frees, 1u);
}

TEST(Merge, AResizeKeepsItsBlock) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kResizeFrom, 0x1000, 0, 1),
               event(Operation::kResizeTo, 0x2000, 16, 1), event(Operation::kFree, 0x2000, 0, 1)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kResize);
  EXPECT_EQ(result.happenings[1].block, result.happenings[2].block);
}

TEST(Merge, AResizeWithoutItsSecondHalfEndsTheBlock) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kResizeFrom, 0x1000, 0, 1)}});
  ASSERT_EQ(result.happenings.size(), 2u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
}

TEST(Merge, ThreadsThatWaitForEachOtherEndAllTheSame) {
  const Merged result =
      merged({{event(Operation::kFree, 0x1000, 0, 1), event(Operation::kAllocate, 0x2000, 8, 1)},
              {event(Operation::kFree, 0x2000, 0, 1), event(Operation::kAllocate, 0x1000, 8, 1)}});
  EXPECT_EQ(result.counts.unknown_frees, 1u);
  EXPECT_EQ(result.happenings.size(), 3u);
}

}  // namespace
}  // namespace tarn::trace
