#include "look/metrics/metrics_of_look.h"

#include "snapshot_builder.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

using observer::Pool;
using observer::SnapshotBuilder;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

bool has_metric(const std::string& text, const std::string& name) {
  return text.find("# TYPE " + name + " ") != std::string::npos;
}

Look look_with_a_class() {
  SnapshotBuilder made;
  const auto blocks_of_64 = made.add_class(64, 64);
  made.cache(made.add_slab(1 << 30, blocks_of_64, 0, [](std::uint32_t block) { return block < 100; }), 3, 4);
  Look look;
  look.snapshot = *made;
  look.snapshot.library_version = "0.2.0";
  look.snapshot.counters = {{"refills", 12}, {"mapped_bytes", 70000}};
  look.snapshot.totals.live_bytes = 6400;
  look.snapshot.totals.mapped_bytes = 65536;
  look.sheet.rss_bytes = 1 << 20;
  look.sheet.bytes[0] = 6400;
  return look;
}

Pool pool_of(const char* name, std::uint64_t live) {
  Pool pool;
  pool.kind_name = "fixed pool";
  pool.name = name;
  pool.block_bytes = 32;
  pool.live = live;
  pool.live_bytes = live * 32;
  pool.mapped_bytes = 4096;
  return pool;
}

TEST(MetricsOfALook, HaveTheNamesOfTheLibrarysOwn) {
  const std::string text = metrics_of(look_with_a_class());
  EXPECT_TRUE(has_line(text, "tarn_build_info{version=\"0.2.0\"} 1"));
  EXPECT_TRUE(has_line(text, "# TYPE tarn_refills_total counter"));
  EXPECT_TRUE(has_line(text, "tarn_refills_total 12"));
  EXPECT_TRUE(has_line(text, "tarn_live_bytes 6400"));
  EXPECT_TRUE(has_line(text, "tarn_class_live_blocks{class=\"64\"} 100"));
  EXPECT_TRUE(has_line(text, "tarn_class_cached_blocks{class=\"64\"} 7"));
}

TEST(MetricsOfALook, TakeTheLibrarysFigureBeforeASum) {
  EXPECT_TRUE(has_line(metrics_of(look_with_a_class()), "tarn_mapped_bytes 70000"));
}

TEST(MetricsOfALook, WhatCannotBeKnownHasNoSeries) {
  const std::string text = metrics_of(look_with_a_class());
  EXPECT_FALSE(has_metric(text, "tarn_allocate_calls_total"));
  EXPECT_FALSE(has_metric(text, "tarn_peak_live_bytes"));
  EXPECT_FALSE(has_metric(text, "tarn_class_allocations_total"));
}

TEST(MetricsOfALook, PoolsWithEqualLabelsAreOneSeries) {
  Look look = look_with_a_class();
  look.snapshot.pools = {pool_of("a", 1), pool_of("b\"", 2), pool_of("a", 5)};
  look.snapshot.pools[0].largest_count = 10;  // without the other's there is no limit of both
  const std::string text = metrics_of(look);
  EXPECT_TRUE(has_line(text, "tarn_pool_pools{kind=\"fixed pool\",name=\"a\",block_bytes=\"32\"} 2"));
  EXPECT_TRUE(has_line(text, "tarn_pool_live_blocks{kind=\"fixed pool\",name=\"a\",block_bytes=\"32\"} 6"));
  EXPECT_TRUE(
      has_line(text, "tarn_pool_live_blocks{kind=\"fixed pool\",name=\"b\\\"\",block_bytes=\"32\"} 2"));
  EXPECT_FALSE(has_metric(text, "tarn_pool_limit_blocks"));
}

TEST(MetricsOfALook, APoolInAHeapNamesIt) {
  Look look = look_with_a_class();
  look.snapshot.pools = {pool_of("outer", 1), pool_of("inner", 1)};
  look.snapshot.pools[1].parent = 0;
  const char* const series =
      "tarn_pool_pools{kind=\"fixed pool\",name=\"inner\",block_bytes=\"32\",parent=\"outer\"} 1";
  EXPECT_TRUE(has_line(metrics_of(look), series));
}

TEST(MetricsOfALook, TellThePartsOfTheSheet) {
  Look look = look_with_a_class();
  EXPECT_TRUE(has_line(metrics_of(look), "tarn_resident_part_bytes{part=\"live\"} 6400"));
  EXPECT_TRUE(has_line(metrics_of(look), "tarn_resident_bytes 1048576"));
  look.sheet.basis = observer::Basis::kMapped;
  const std::string text = metrics_of(look);
  EXPECT_TRUE(has_line(text, "tarn_mapped_part_bytes{part=\"live\"} 6400"));
  EXPECT_EQ(text.find("part=\"other\""), std::string::npos);
  EXPECT_FALSE(has_metric(text, "tarn_resident_bytes"));
}

}  // namespace
}  // namespace tarn::tool
