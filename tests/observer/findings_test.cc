// Each finding: what brings it about, what does not, and which figures it names.
#include "observer/findings/findings.h"

#include "hand_made.h"
#include "observer/findings/next_step.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

using test::HandMade;
using test::kMiB;
using test::kPage;

/// What findings_of() says of evidence made by hand.
class FindingsOf : public testing::Test {
 protected:
  std::vector<Finding> all() {
    const Snapshot snapshot = made.snapshot();
    return findings_of({snapshot,
                        residency ? &*residency : nullptr,
                        system,
                        earlier ? &*earlier : nullptr,
                        {},
                        leaks ? &*leaks : nullptr});
  }
  /// \returns the first finding with an id; one with no text when there is none
  Finding find(std::string_view id) {
    const auto findings = all();
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [id](const Finding& finding) { return finding.id == id; });
    return found == findings.end() ? Finding{} : *found;
  }
  bool has(std::string_view id) { return !find(id).what.empty(); }
  Pool& pool(std::uint32_t index) { return made.edit().pools[index]; }

  HandMade made;
  SystemFacts system;
  std::optional<Residency> residency;
  std::optional<Snapshot> earlier;
  std::optional<LeakSum> leaks = std::nullopt;
};

#define EXPECT_BAD(finding) EXPECT_EQ((finding).severity, Severity::kBad) << (finding).what
#define EXPECT_NOTE(finding) EXPECT_EQ((finding).severity, Severity::kNote) << (finding).what
#define EXPECT_FINE(finding)                                      \
  EXPECT_EQ((finding).severity, Severity::kOk) << (finding).what; \
  EXPECT_NE((finding).what, "");                                  \
  EXPECT_EQ((finding).advice, "")

TEST_F(FindingsOf, NothingIsBadAboutAProgramThatHasNothing) { EXPECT_FALSE(has_bad(all())); }

TEST_F(FindingsOf, WhatIsBadComesFirstAndTheMostBytesOfIt) {
  made.add_slabs(1000, made.add_class(48), 3);
  system.swap_bytes = 10 * kMiB;
  system.group_limit_bytes = system.group_used_bytes = 100 * kMiB;
  const auto findings = all();
  EXPECT_TRUE(has_bad(findings));
  EXPECT_EQ(findings[0].id, "control_group");
  EXPECT_EQ(findings[1].id, "fragmentation");
  EXPECT_EQ(findings[2].id, "swap");
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.bytes > b.bytes;
  }));
}

TEST_F(FindingsOf, SurvivorsThatKeepSlabsAreNamedWithTheirClassAndOwner) {
  const std::uint32_t owner = made.add_owner();
  made.add_thread(owner);
  made.add_slabs(1000, made.add_class(48), 3, owner);
  const Finding finding = find("fragmentation");
  EXPECT_BAD(finding);
  EXPECT_EQ(finding.bytes, 1000 * (kPage - 144));
  EXPECT_EQ(finding.what,
            "62.4 MiB lie free in slabs that live blocks keep, 100 % of 62.5 MiB: 48 B (62.4 MiB, 3,000 of "
            "1,365,000 blocks live); most of it at owner 0 (thread 1), 62.4 MiB");
  EXPECT_NE(finding.advice.find("objects of 48 B"), std::string::npos);
}

TEST_F(FindingsOf, LeaksAreJudgedWhereTheyWereLookedFor) {
  EXPECT_FALSE(has("leaks"));
  leaks = LeakSum{0, 0};
  EXPECT_FINE(find("leaks"));
  leaks = LeakSum{13'000, 13 * kMiB};
  EXPECT_BAD(find("leaks"));
  EXPECT_EQ(find("leaks").what, "13.0 MiB in 13,000 live blocks are lost: nothing points to them");
  leaks = LeakSum{3, 300};
  EXPECT_NOTE(find("leaks"));
}

TEST_F(FindingsOf, FreeBlocksInAPoolAreNamedByThePool) {
  const std::uint32_t packets = made.add_pool(PoolKind::kFixed, "packets", 2048);
  made.add_pool_span(packets, SpanUse::kSlab, 512 * kPage, 100);
  const Finding finding = find("fragmentation");
  EXPECT_BAD(finding);
  EXPECT_NE(finding.advice.find("fixed pool packets"), std::string::npos);
}

TEST_F(FindingsOf, SlabsThatAreMostlyFullAreNoFragmentation) {
  made.add_slabs(1000, made.add_class(1024), 63);
  EXPECT_FINE(find("fragmentation"));
}

TEST_F(FindingsOf, FragmentationOfAFewMegabytesOfManyIsANote) {
  const std::uint32_t size_class = made.add_class(1024);
  made.add_slabs(800, size_class, 64);
  made.add_slabs(150, size_class, 4);
  EXPECT_NOTE(find("fragmentation"));
}

TEST_F(FindingsOf, WhatHasGoneBackIsNoFragmentation) {
  made.add_slabs(1000, made.add_class(48), 3);
  residency = Residency({}, 100 * kMiB, 0);
  EXPECT_FINE(find("fragmentation"));
}

TEST_F(FindingsOf, HugePagesThatHoldLittleAreFound) {
  const std::uint32_t size_class = made.add_class(1024);
  for (int i = 0; i < 1000; ++i) made.add_slab(size_class, 2).is_dense = true;
  const Finding finding = find("huge_pages");
  EXPECT_BAD(finding);
  EXPECT_NE(finding.what.find("62.5 MiB in huge pages"), std::string::npos) << finding.what;
}

TEST_F(FindingsOf, FullHugePagesAndEmptySmallOnesAreNot) {
  const std::uint32_t size_class = made.add_class(1024);
  for (int i = 0; i < 1000; ++i) made.add_slab(size_class, 64).is_dense = true;
  made.add_slabs(1000, size_class, 2);
  EXPECT_FINE(find("huge_pages"));
}

TEST_F(FindingsOf, HugePagesThatAreNotResidentAreNot) {
  const std::uint32_t size_class = made.add_class(1024);
  for (int i = 0; i < 1000; ++i) made.add_slab(size_class, 2).is_dense = true;
  residency = Residency({}, 100 * kMiB, 0);
  EXPECT_FINE(find("huge_pages"));
}

TEST_F(FindingsOf, APoolThatRefusedIsBad) {
  const std::uint32_t packets = made.add_pool(PoolKind::kFixed, "packets", 2048);
  made.add_pool_span(packets, SpanUse::kSlab, 4 * kPage, 100);
  pool(packets).largest_count = 128;
  EXPECT_FINE(find("pool_full"));
  pool(packets).refusals = 3;
  EXPECT_BAD(find("pool_full"));
  EXPECT_EQ(find("pool_full").what,
            "fixed pool packets has 100 of at most 128 blocks live and has refused 3 requests");
}

TEST_F(FindingsOf, APoolNearItsCapIsANoteAndAtItBad) {
  const std::uint32_t packets = made.add_pool(PoolKind::kFixed, "packets", 2048);
  made.add_pool_span(packets, SpanUse::kSlab, 4 * kPage, 100);
  pool(packets).largest_count = 105;
  EXPECT_NOTE(find("pool_full"));
  pool(packets).largest_count = 100;
  EXPECT_BAD(find("pool_full"));
}

TEST_F(FindingsOf, PoolsWithoutACapSayNothing) {
  made.add_pool(PoolKind::kFixed, "packets", 2048);
  EXPECT_FALSE(has("pool_full"));
}

TEST_F(FindingsOf, AHeapIsJudgedByTheLimitThatLeavesLeast) {
  Pool& heap = pool(made.add_pool(PoolKind::kHeap, "sessions"));
  heap.hard_limit = 100 * kMiB;
  heap.mapped_limit = 200 * kMiB;
  heap.charged_bytes = 50 * kMiB;
  EXPECT_FINE(find("heap_limit"));
  heap.charged_bytes = 95 * kMiB;
  EXPECT_NOTE(find("heap_limit"));
  EXPECT_EQ(find("heap_limit").what, "heap sessions holds 95.0 MiB of its hard_limit of 100 MiB (95 %)");
  heap.mapped_bytes = 199 * kMiB;
  EXPECT_NE(find("heap_limit").what.find("mapped_limit"), std::string::npos);
  heap.refusals = 1;
  EXPECT_BAD(find("heap_limit"));
}

TEST_F(FindingsOf, AHeapThatRefusedWithoutALimitIsBad) {
  Pool& heap = pool(made.add_pool(PoolKind::kHeap, "sessions"));
  EXPECT_FINE(find("heap_limit"));
  heap.refusals = 1;
  EXPECT_BAD(find("heap_limit"));
}

TEST_F(FindingsOf, RefusalsAtTheHardLimitAreBad) {
  EXPECT_FALSE(has("process_limit"));
  made.set_counter("held_bytes", 50 * kMiB);
  made.set_counter("hard_limit_bytes", 100 * kMiB);
  EXPECT_FINE(find("process_limit"));
  made.set_counter("hard_limit_refusals", 2);
  EXPECT_BAD(find("process_limit"));
  EXPECT_EQ(find("process_limit").what,
            "tarn holds 50.0 MiB of the hard limit of 100 MiB (50 %): 2 refusals");
}

TEST_F(FindingsOf, BeingNearASoftLimitIsANoteAndCrossingItToo) {
  made.set_counter("held_bytes", 95 * kMiB);
  made.set_counter("soft_limit_bytes", 100 * kMiB);
  EXPECT_NOTE(find("process_limit"));
  made.set_counter("soft_limit_crossings", 1);
  EXPECT_NE(find("process_limit").what.find("1 crossing"), std::string::npos);
}

TEST_F(FindingsOf, RemoteFreesThatNobodyCollectsAreANote) {
  made.edit().owners.resize(2);
  EXPECT_FINE(find("remote_frees"));
  made.edit().owners[1].pending = 100;
  EXPECT_NOTE(find("remote_frees"));
  EXPECT_NE(find("remote_frees").what.find("owner 1"), std::string::npos);
}

TEST_F(FindingsOf, WhatEndedThreadsLeftIsJudgedByItsShare) {
  made.add_slabs(1600, made.add_class(1024), 64);
  const std::uint32_t owner = made.add_owner();
  EXPECT_FINE(find("ended_threads"));
  made.edit().owners[owner].is_orphan = true;
  made.edit().owners[owner].parked_bytes = 4 * kMiB;
  EXPECT_NOTE(find("ended_threads"));
  made.edit().threads.push_back({});
  made.edit().threads.back().cached_bytes = 40 * kMiB;
  EXPECT_BAD(find("ended_threads"));
}

TEST_F(FindingsOf, ManyCachedBlocksBesideFewLiveOnesAreFound) {
  made.add_slabs(160, made.add_class(1024), 64);
  made.add_thread(kNone, 100'000);
  EXPECT_FINE(find("thread_caches"));
  made.add_thread(kNone, 10 * kMiB);
  EXPECT_NOTE(find("thread_caches"));
  made.add_thread(kNone, 100 * kMiB);
  EXPECT_BAD(find("thread_caches"));
  EXPECT_NE(find("thread_caches").what.find("3 threads: 110 MiB"), std::string::npos);
}

TEST_F(FindingsOf, FreePagesWithinTheThresholdAreFine) {
  made.add_free(8 * kMiB, true);
  EXPECT_FINE(find("free_pages"));
}

TEST_F(FindingsOf, FreePagesBeyondTheThresholdAreANoteAsTheyMayBeOnTheirWay) {
  made.add_free(80 * kMiB, true);
  EXPECT_NOTE(find("free_pages"));
}

TEST_F(FindingsOf, ALongDecayIsAReason) {
  made.add_free(80 * kMiB, true);
  made.set_option("decay", 600'000);
  EXPECT_BAD(find("free_pages"));
  EXPECT_NE(find("free_pages").advice.find("600 s"), std::string::npos);
}

TEST_F(FindingsOf, FreePagesThatStayedSinceTheEarlierLookAreBad) {
  made.add_free(80 * kMiB, true);
  earlier = made.snapshot();
  earlier->time -= 4;
  EXPECT_NOTE(find("free_pages"));
  earlier->time -= 6;
  EXPECT_BAD(find("free_pages"));
  EXPECT_NE(find("free_pages").advice.find("option background on"), std::string::npos);
  made.set_option("background", 1);
  EXPECT_NE(find("free_pages").advice.find("may not run"), std::string::npos);
  earlier->totals.free_dirty_bytes += kMiB;
  EXPECT_NOTE(find("free_pages"));
}

TEST_F(FindingsOf, GrowthIsToldOnceThereIsAnEarlierLook) {
  EXPECT_FALSE(has("growth"));
  const std::uint32_t size_class = made.add_class(1024);
  made.add_slabs(160, size_class, 64);
  earlier = made.snapshot();
  earlier->time -= 10;
  EXPECT_FINE(find("growth"));
  made.add_slabs(160, size_class, 64);
  EXPECT_NOTE(find("growth"));
  EXPECT_EQ(find("growth").what, "live blocks grew by 10.0 MiB in 10 s, to 20.0 MiB");
}

TEST_F(FindingsOf, EachCostlyOptionIsNamed) {
  EXPECT_FINE(find("costly_option"));
  for (const char* key : {"check", "count_calls", "pools_use_malloc"}) {
    made.edit().options.clear();
    made.set_option(key, 1);
    EXPECT_NOTE(find("costly_option"));
    EXPECT_NE(find("costly_option").what.find(key), std::string::npos);
  }
}

TEST_F(FindingsOf, SpansThatCouldNotBeReadAreTold) {
  EXPECT_FALSE(has("unreadable"));
  made.edit().exactness.bad_spans = 2;
  EXPECT_NOTE(find("unreadable"));
}

TEST_F(FindingsOf, HugePagesForAllMemoryAreANote) {
  EXPECT_FALSE(has("thp"));
  system.thp_enabled = "madvise";
  EXPECT_FINE(find("thp"));
  system.thp_enabled = "always";
  EXPECT_NOTE(find("thp"));
  system.is_thp_enabled = false;
  EXPECT_FINE(find("thp"));
}

TEST_F(FindingsOf, HugePagesThatTheProgramAsksForAndCannotHaveAreANote) {
  made.set_option("huge_pages", 2);
  system.thp_enabled = "never";
  EXPECT_NOTE(find("thp"));
  system.thp_enabled = "madvise";
  EXPECT_FINE(find("thp"));
  system.is_thp_enabled = false;
  EXPECT_NOTE(find("thp"));
}

TEST_F(FindingsOf, DefragThatStallsIsANote) {
  system.thp_enabled = "madvise";
  system.thp_defrag = "madvise";
  EXPECT_FALSE(has("thp_defrag"));
  system.thp_defrag = "always";
  EXPECT_NOTE(find("thp_defrag"));
  system.thp_enabled = "never";
  EXPECT_FALSE(has("thp_defrag"));
}

TEST_F(FindingsOf, AControlGroupIsJudgedByWhatIsLeft) {
  EXPECT_FALSE(has("control_group"));
  system.control_group = "/app";
  system.group_limit_bytes = 100 * kMiB;
  system.group_used_bytes = 50 * kMiB;
  EXPECT_FINE(find("control_group"));
  system.group_used_bytes = 85 * kMiB;
  EXPECT_NOTE(find("control_group"));
  system.group_used_bytes = 99 * kMiB;
  EXPECT_BAD(find("control_group"));
  EXPECT_EQ(find("control_group").what, "control group /app uses 99.0 MiB of 100 MiB (99 %)");
}

TEST_F(FindingsOf, AddressSpaceIsJudgedByWhatIsLeft) {
  EXPECT_FALSE(has("address_space"));
  system.address_space_bytes = 96 * kMiB;
  system.address_space_limit = kUnlimited;
  EXPECT_FINE(find("address_space"));
  system.address_space_limit = 1000 * kMiB;
  EXPECT_FINE(find("address_space"));
  system.address_space_limit = 110 * kMiB;
  EXPECT_NOTE(find("address_space"));
  system.address_space_limit = 100 * kMiB;
  EXPECT_BAD(find("address_space"));
}

TEST_F(FindingsOf, StrictOvercommitIsJudgedByWhatIsLeft) {
  EXPECT_FALSE(has("overcommit"));
  system.overcommit = 0;
  EXPECT_FINE(find("overcommit"));
  system.overcommit = 2;
  system.commit_limit_bytes = 100 * kMiB;
  system.committed_bytes = 50 * kMiB;
  EXPECT_FINE(find("overcommit"));
  system.committed_bytes = 98 * kMiB;
  EXPECT_BAD(find("overcommit"));
}

TEST_F(FindingsOf, SwapIsANoteAndMuchOfItBad) {
  EXPECT_FALSE(has("swap"));
  system.rss_bytes = 200 * kMiB;
  system.swap_bytes = 0;
  EXPECT_FINE(find("swap"));
  system.swap_bytes = 2 * kMiB;
  EXPECT_NOTE(find("swap"));
  system.swap_bytes = 100 * kMiB;
  EXPECT_BAD(find("swap"));
  system.rss_bytes = 4000 * kMiB;
  EXPECT_NOTE(find("swap"));
}

TEST_F(FindingsOf, MappingsAreJudgedByWhatIsLeft) {
  EXPECT_FALSE(has("mappings"));
  system.max_map_count = 65530;
  system.mapping_count = 100;
  EXPECT_FINE(find("mappings"));
  system.mapping_count = 60000;
  EXPECT_NOTE(find("mappings"));
  system.mapping_count = 65530;
  EXPECT_BAD(find("mappings"));
}

TEST_F(FindingsOf, CoreFilesNeedPrivateMemoryAndRoom) {
  EXPECT_FALSE(has("core_files"));
  system.core_size_limit = kUnlimited;
  system.coredump_filter = 0x33;
  system.core_pattern = "core";
  EXPECT_FINE(find("core_files"));
  system.coredump_filter = 0x32;
  EXPECT_NOTE(find("core_files"));
  EXPECT_NE(find("core_files").what.find("0x32"), std::string::npos);
  system.coredump_filter = 0x33;
  system.core_size_limit = 0;
  EXPECT_NOTE(find("core_files"));
  system.core_pattern = "|/usr/lib/systemd/systemd-coredump %P";
  EXPECT_FINE(find("core_files"));
  system.core_pattern = "core";
  system.core_size_limit = kMiB;
  system.rss_bytes = 2 * kMiB;
  EXPECT_NOTE(find("core_files"));
}

TEST_F(FindingsOf, PtraceScopeTellsWhoMayLook) {
  EXPECT_FALSE(has("ptrace_scope"));
  system.ptrace_scope = 0;
  EXPECT_FINE(find("ptrace_scope"));
  system.ptrace_scope = 1;
  EXPECT_NOTE(find("ptrace_scope"));
  EXPECT_NE(find("ptrace_scope").advice.find("observe:owner"), std::string::npos);
  system.ptrace_scope = 3;
  EXPECT_NE(find("ptrace_scope").what.find("nobody"), std::string::npos);
}

TEST_F(FindingsOf, WhatIsNotFineSaysWhatToDo) {
  made.add_slabs(1000, made.add_class(48), 3);
  made.add_free(80 * kMiB, true);
  system.swap_bytes = 100 * kMiB;
  system.ptrace_scope = 1;
  for (const Finding& finding : all())
    EXPECT_EQ(finding.advice.empty(), finding.severity == Severity::kOk) << finding.id;
}

}  // namespace
TEST(NextStep, NamesTheCommandThatNamesTheCulprit) {
  const auto command = [](std::vector<Finding> findings, Moment later) {
    const Moment moments[] = {{10, 5, 8 * kMiB}, later};
    return next_step(7, findings, moments).command;
  };
  const Finding leaks{"leaks", Severity::kNote, 0, "", ""}, holes{"fragmentation", Severity::kBad, 0, "", ""},
      fine{"leaks", Severity::kOk, 0, "", ""};
  EXPECT_EQ(command({leaks}, {11, 5, 9 * kMiB}), "tarn profile 7 --growth");
  EXPECT_EQ(command({leaks, holes}, {11, 5, 8 * kMiB}), "tarn leaks 7");
  EXPECT_EQ(command({fine, holes}, {11, 5, 8 * kMiB}), "tarn profile 7 --lifetimes");
  EXPECT_EQ(command({fine}, {11, 5.5, 8 * kMiB}), "tarn profile 7 --lifetimes");
  EXPECT_EQ(command({fine}, {11, 5.02, 8 * kMiB}), "tarn profile 7 --types");
  EXPECT_EQ(command({fine}, {11, 5, 8 * kMiB}), "tarn heap 7");
  EXPECT_EQ(command({}, {11, 5, kMiB / 2}), "");
  // What grows and shrinks again does not grow.
  const Moment swings[] = {{10, 5, 8 * kMiB}, {11, 5, 12 * kMiB}, {12, 5, 11 * kMiB}};
  EXPECT_EQ(next_step(7, {}, swings).command, "tarn heap 7");
}

}  // namespace tarn::observer
