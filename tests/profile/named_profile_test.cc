#include "profile/stacks/named_profile.h"

#include <gtest/gtest.h>

#include <limits>

#include "hand_made_profile.h"
#include "profile/stacks/amount_text.h"

namespace tarn::profile {
namespace {

Location make_location(std::vector<Frame> frames, std::size_t module = Location::kNoModule) {
  Location location;
  location.frames = std::move(frames);
  location.module = module;
  return location;
}

Frame function(const char* name) { return {.function = name}; }

TEST(WithoutAllocator, TheSiteIsTheCallerOfMalloc) {
  const Location inner = make_location({function("tarn::internal::refill(int)")}),
                 malloc = make_location({function("malloc")}),
                 operator_new = make_location({function("operator new(unsigned long)")}),
                 vector = make_location({function("std::vector<int>::push_back(int)")}),
                 caller = make_location({function("app::build()")});
  const Calls left = without_allocator({{&inner, &malloc, &operator_new, &vector, &caller}}, {});
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].location, &vector);
}

TEST(WithoutAllocator, AnAllocatorsFrameFurtherOutStays) {
  const Location caller = make_location({function("app::hook()")}),
                 trim = make_location({function("tarn::trim()")});
  EXPECT_EQ(without_allocator({{&caller, &trim}}, {}).size(), 2u);
}

TEST(WithoutAllocator, WhatWasInlinedFromTheLibrarysHeadersGoesAlone) {
  const Location call =
      make_location({{.function = "pop", .file = "/usr/include/tarn/pool.h", .is_inlined = true},
                     {.function = "tarn::Pool::create()", .is_inlined = true},
                     function("app::build()")});
  const Calls left = without_allocator({{&call}}, {});
  ASSERT_EQ(left.size(), 1u);
  ASSERT_EQ(left[0].frames().size(), 1u);
  EXPECT_EQ(left[0].frames()[0].function, "app::build()");
}

TEST(WithoutAllocator, AllOfTheLibrarysOwnFileGoes) {
  HeapProfile profile;
  profile.modules = {{0, 10, 0, "/usr/lib/libtarn.so.0.3", ""}, {10, 20, 0, "/usr/bin/libtarnish", ""}};
  const Location stripped = make_location({function("libtarn.so.0.3+0x12")}, 0),
                 other = make_location({function("libtarnish+0x1")}, 1);
  EXPECT_EQ(without_allocator({{&stripped, &other}}, profile).size(), 1u);
}

TEST(WithoutAllocator, AStackOfNothingElseStaysWhole) {
  const Location malloc = make_location({function("malloc")});
  EXPECT_EQ(without_allocator({{&malloc}}, {}).size(), 1u);
}

TEST(Site, IsTheFirstFrameThatIsNotTheCppLibrarys) {
  EXPECT_EQ(site_of({function("std::a()"), function("__gnu_cxx::b()"), function("app::c()")}), 2u);
  EXPECT_EQ(site_of({function("std::a()")}), 0u);
}

TEST(NamedProfile, OlderMemoryIsOneMoreStackAndARemark) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  EXPECT_EQ(profile.stacks().size(), 4u);
  EXPECT_TRUE(profile.stacks().back().is_older);
  EXPECT_EQ(profile.total(Measure::kLive).bytes, 4096 + 512 + 48 + 1000);
  EXPECT_EQ(profile.total(Measure::kAllocated).bytes, 2 * (4096 + 512 + 48));
  ASSERT_EQ(profile.remarks().size(), 1u);
  EXPECT_NE(profile.remarks()[0].find("0.98 KiB in 10 blocks"), std::string::npos);
}

TEST(NamedProfile, ForgedFiguresAreZero) {
  ProfileStack stack = test::make_stack({0x1}, -1, std::numeric_limits<double>::quiet_NaN(), "a\033b");
  stack.allocated_bytes = std::numeric_limits<double>::infinity();
  const NamedProfile profile = test::named({stack});
  EXPECT_EQ(profile.total(Measure::kLive).bytes, 0);
  EXPECT_EQ(profile.total(Measure::kLive).blocks, 0);
  EXPECT_EQ(profile.total(Measure::kAllocated).bytes, 0);
  EXPECT_EQ(profile.stacks()[0].pool, "a?b");
}

TEST(NamedProfile, SamplingAndLostSamplesAreTold) {
  HeapProfile profile = test::make_profile({});
  profile.interval_bytes = 524288;
  profile.lost_samples = 3;
  EXPECT_EQ(test::named(profile).remarks().size(), 2u);
}

TEST(Amounts, AreWrittenWithThreeDigits) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(change_text(2048), "+2.00 KiB");
  EXPECT_EQ(change_text(-12), "-12 B");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(counted(1, "block"), "1 block");
  EXPECT_EQ(share_text(1, 0), "0.0 %");
}

}  // namespace

}  // namespace tarn::profile
