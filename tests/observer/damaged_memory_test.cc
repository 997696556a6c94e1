// The reader on memory that is torn, damaged or forged.
#include <ctime>

#include "observe/descriptor.h"
#include "observer/recorded_memory.h"
#include "observer/records/layout.h"
#include "observer/records/locate.h"
#include "observer/snapshot/snapshot.h"
#include "observer/snapshot_promises.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"

namespace tarn::test {
namespace {

using internal::ObserveDescriptor;
using internal::ObservedField;
using observer::Address;
using observer::Field;
using observer::ObserveError;
using observer::Snapshot;

constexpr double kMostSeconds = kSanitizer ? 5 : 1;

std::string recording() {
  std::ifstream file(TARN_SMALL_PROGRAM, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const RecordedMemory& small_program() {
  static const RecordedMemory memory = RecordedMemory::parse(recording());
  return memory;
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A copy of the memory, and where its fields lie.
class DamagedMemory : public testing::Test {
 protected:
  Address descriptor() const { return descriptor_; }
  Address address(Address record, std::string_view field) const {
    return record + layout_.field(field).offset;
  }
  Address root(std::string_view name) const { return layout_.root(name); }
  std::uint64_t number(Address record, std::string_view field) const {
    return observer::read_number(memory_, record, layout_.field(field)).value();
  }
  template <typename Number>
  void forge(Address record, std::string_view field, Number number) {
    memory_.write(address(record, field), number);
  }
  /// Of the descriptor's table.
  Address entry(std::string_view name) const {
    ObserveDescriptor descriptor{};
    EXPECT_TRUE(memory_.read_all(descriptor_, &descriptor, sizeof descriptor));
    for (std::uint32_t i = 0; i < descriptor.field_count; ++i) {
      const Address at = reinterpret_cast<Address>(descriptor.fields + i);
      ObservedField field{};
      EXPECT_TRUE(memory_.read_all(at, &field, sizeof field));
      if (field.name == name) return at;
    }
    ADD_FAILURE() << name;
    return 0;
  }
  void forge_entry(std::string_view name, std::uint32_t offset, std::uint16_t size) {
    const Address at = entry(name);
    memory_.write(at + offsetof(ObservedField, offset), offset);
    memory_.write(at + offsetof(ObservedField, size), size);
  }
  std::uint16_t bytes_of_record(std::string_view record) const { return layout_.field(record).size; }
  Address first_region() const { return root("page_map") + layout_.field("page_map.regions").offset; }

  /// Of the first span of the first region with such a use.
  Address record_of_first(const Snapshot& snapshot, observer::SpanUse use) const {
    const Address start = number(first_region(), "region.start"),
                  spans = number(first_region(), "region.spans");
    for (const observer::Span& span : snapshot.spans) {
      Address record = 0;
      const Address page = (span.start - start) / snapshot.page_bytes;
      if (span.use == use && memory_.read_all(spans + page * sizeof record, &record, sizeof record))
        return record;
    }
    ADD_FAILURE() << "no such span";
    return 0;
  }

  /// The snapshot, or what the reader says in its place; soon.
  std::optional<Snapshot> read() {
    const double start = cpu_seconds();
    std::optional<Snapshot> snapshot;
    refusal_.clear();
    try {
      snapshot = observer::read_snapshot(memory_);
    } catch (const ObserveError& error) {
      refusal_ = error.what();
      EXPECT_EQ(refusal_.find('\n'), std::string::npos);
    }
    EXPECT_LT(cpu_seconds() - start, kMostSeconds);
    EXPECT_STREQ(snapshot ? broken_promise(*snapshot) : nullptr, nullptr);
    return snapshot;
  }

  RecordedMemory memory_ = small_program();
  std::string refusal_;

 private:
  Address descriptor_ = observer::locate(memory_).value().descriptor;
  observer::Layout layout_ = observer::Layout::read(memory_, descriptor_);
};

TEST(RecordingOfASmallProgram, TellsNothingOfWhoHasMadeIt) {
  for (const char* const told : {"PATH=", "HOME=", "PWD=", "/record_memory"})
    EXPECT_EQ(recording().find(told), std::string::npos) << told;
}

TEST_F(DamagedMemory, ThatIsWholeHasABlockInEachPool) {
  const std::optional<Snapshot> snapshot = read();
  ASSERT_TRUE(snapshot) << refusal_;
  EXPECT_TRUE(snapshot->exactness.is_exact);
  EXPECT_EQ(snapshot->exactness.bad_spans, 0u);
  EXPECT_GT(snapshot->totals.live_blocks, 400u);
  unsigned pools = 0;
  for (const observer::Pool& pool : snapshot->pools) pools += pool.live != 0 ? 1 : 0;
  EXPECT_GE(pools, 9u);
}

TEST_F(DamagedMemory, WithListsInCirclesIsRead) {
  struct List {
    Address first;
    std::string_view next;
  };
  for (const List& list : {List{number(root("owners"), "owners.first"), "owner.next"},
                           List{number(root("registry"), "registry.first"), "heap.next"},
                           List{number(root("pools"), "pools.first"), "pool.next"}}) {
    memory_ = small_program();
    const std::optional<Snapshot> whole = read();
    Address last = list.first;
    while (number(last, list.next) != 0) last = number(last, list.next);
    ASSERT_NE(last, list.first) << list.next;
    forge(last, list.next, list.first);
    const std::optional<Snapshot> snapshot = read();
    ASSERT_TRUE(snapshot) << refusal_;
    EXPECT_EQ(snapshot->totals.live_blocks, whole->totals.live_blocks) << list.next;
    EXPECT_EQ(snapshot->threads.size(), whole->threads.size());
    EXPECT_EQ(snapshot->owners.size(), whole->owners.size());
    EXPECT_EQ(snapshot->pools.size(), whole->pools.size());
  }
}

TEST_F(DamagedMemory, WithACircleOfTwoThatIsEnteredFromOutsideIsRead) {
  constexpr Address kTwo = 0x10000;
  memory_.add(kTwo, std::vector<std::byte>(4096));
  forge(kTwo, "span.next", kTwo + 1024);
  forge(kTwo + 1024, "span.next", kTwo);
  const Address owner = number(root("owners"), "owners.first");
  forge(owner, "owner.spare", kTwo);
  EXPECT_TRUE(read()) << refusal_;
}

TEST_F(DamagedMemory, WithCountsOfNothingThereIsReadAsFarAsItIs) {
  const std::optional<Snapshot> whole = read();
  forge(root("metadata"), "metadata.range_count", UINT32_MAX);
  forge(root("page_map"), "page_map.region_count", UINT32_MAX);
  const std::optional<Snapshot> snapshot = read();
  ASSERT_TRUE(snapshot) << refusal_;
  EXPECT_EQ(snapshot->totals.live_blocks, whole->totals.live_blocks);
}

TEST_F(DamagedMemory, WithARegionOfHalfOfAllAddressesIsReadWithoutIt) {
  forge(first_region(), "region.bytes", std::uint64_t{1} << 63);
  forge(first_region(), "region.committed", UINT32_MAX);
  const std::optional<Snapshot> snapshot = read();
  ASSERT_TRUE(snapshot) << refusal_;
  EXPECT_EQ(snapshot->totals.large_blocks, 0u);
}

TEST_F(DamagedMemory, WithARegionThatRunsPastTheLastAddressIsReadWithoutIt) {
  forge(first_region(), "region.start", ~std::uint64_t{0} - 0xfffff);
  EXPECT_TRUE(read()) << refusal_;
}

TEST_F(DamagedMemory, WithTheSameRegionTwiceHasNoSpanTwice) {
  const std::optional<Snapshot> whole = read();
  const auto size = static_cast<std::uint32_t>(bytes_of_record("region"));
  std::vector<std::byte> region(size), table;
  ASSERT_TRUE(memory_.read_all(first_region(), region.data(), size));
  for (int i = 0; i < 2; ++i) table.insert(table.end(), region.begin(), region.end());
  constexpr std::uint32_t kDistance = 1 << 30;
  memory_.add(root("page_map") + kDistance, table);
  forge(root("page_map"), "page_map.region_count", std::uint32_t{2});
  forge_entry("page_map.regions", kDistance, 0);
  const std::optional<Snapshot> snapshot = read();
  ASSERT_TRUE(snapshot) << refusal_;
  EXPECT_EQ(snapshot->totals.live_blocks, whole->totals.live_blocks);
  EXPECT_EQ(snapshot->spans.size(), whole->spans.size());
  EXPECT_GE(snapshot->exactness.bad_spans, 20u);
  EXPECT_FALSE(snapshot->exactness.is_exact);
}

TEST_F(DamagedMemory, WithAMixedPageOfNoShapeIsReadWithoutIt) {
  const std::optional<Snapshot> whole = read();
  ASSERT_TRUE(whole) << refusal_;
  const Address record = record_of_first(*whole, observer::SpanUse::kMixedPage);
  const auto expect_one_bad = [&](const char* what) {
    const std::optional<Snapshot> snapshot = read();
    ASSERT_TRUE(snapshot) << refusal_;
    EXPECT_EQ(snapshot->exactness.bad_spans, 1u) << what;
    EXPECT_LT(snapshot->totals.live_blocks, whole->totals.live_blocks) << what;
    memory_ = small_program();
  };
  for (const std::uint32_t granule_bytes : {0u, 8u, 1u << 30}) {
    forge(record, "span.stride", granule_bytes);
    expect_one_bad("granules");
  }
  forge(record, "span.block_count", std::uint16_t{UINT16_MAX});
  expect_one_bad("more than the page has");
  forge(record, "span.size_class", std::uint16_t{9});
  expect_one_bad("a class");
}

TEST_F(DamagedMemory, WithConstantsOfNoSizeIsRefused) {
  for (const char* const name :
       {"page_bytes", "chunk_bytes", "bin_count", "per_class.in_block", "buffer.unit_bytes"})
    for (const std::uint32_t value : {0u, 3u << 29, UINT32_MAX}) {
      memory_ = small_program();
      forge_entry(name, value, 0);
      EXPECT_FALSE(read()) << name << " " << value;
      EXPECT_NE(refusal_.find("cannot be read"), std::string::npos) << refusal_;
    }
}

TEST_F(DamagedMemory, WithAFieldOutsideOfItsRecordIsRefused) {
  forge_entry("span.stride", 1 << 20, 4);
  EXPECT_FALSE(read());
  EXPECT_NE(refusal_.find("span.stride"), std::string::npos) << refusal_;
}

TEST_F(DamagedMemory, WithoutAFieldIsRefusedByItsName) {
  for (const char* const name : {"span.stride", "heap.magazines", "pool.next", "owner.slow_calls"}) {
    memory_ = small_program();
    memory_.write(entry(name), 'X');
    EXPECT_FALSE(read());
    EXPECT_NE(refusal_.find(std::string("does not tell where ") + name + " lies"), std::string::npos)
        << refusal_;
  }
}

TEST_F(DamagedMemory, OfANewerLibraryWithLongerTablesIsRead) {
  ObserveDescriptor older{};
  ASSERT_TRUE(memory_.read_all(descriptor(), &older, sizeof older));
  constexpr Address kTables = 0x10000;
  constexpr std::uint32_t kLonger = sizeof(ObservedField) + 16;
  memory_.add(kTables, std::vector<std::byte>(64 * 1024));
  for (std::uint32_t i = 0; i < older.field_count; ++i) {
    ObservedField field{};
    ASSERT_TRUE(memory_.read_all(reinterpret_cast<Address>(older.fields + i), &field, sizeof field));
    memory_.write(kTables + std::uint64_t{i} * kLonger, field);
  }
  memory_.write(descriptor() + offsetof(ObserveDescriptor, bytes),
                static_cast<std::uint32_t>(sizeof older + 64));
  memory_.write(descriptor() + offsetof(ObserveDescriptor, fields), kTables);
  memory_.write(descriptor() + offsetof(ObserveDescriptor, field_bytes), kLonger);
  EXPECT_TRUE(read()) << refusal_;
}

TEST_F(DamagedMemory, OfAnotherArchitectureOrAgeIsRefused) {
  memory_.write(descriptor() + offsetof(ObserveDescriptor, word_bytes), 4u);
  EXPECT_FALSE(read());
  EXPECT_NE(refusal_.find("another architecture"), std::string::npos) << refusal_;
}

TEST_F(DamagedMemory, WithANameThatSteersTheTerminalIsShownHarmless) {
  const Address pool = number(root("pools"), "pools.first");
  memory_.write(address(pool, "pool.name"), "\x1b[2Jhello");
  const std::optional<Snapshot> snapshot = read();
  ASSERT_TRUE(snapshot) << refusal_;
  EXPECT_EQ(snapshot->pools[0].name.substr(0, 4), "?[2J");
}

TEST_F(DamagedMemory, BitByBitIsReadOrRefusedSoon) {
  Random random(14);
  const std::uint64_t tries = amount(3'000, 300'000);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < tries && !HasFailure(); ++i) {
    memory_ = small_program();
    for (std::uint64_t flips = random.between(1, 4); flips > 0; --flips)
      memory_.at(random.below(memory_.size())) ^= static_cast<std::byte>(1u << random.below(8));
    if (!read()) ++refused;
  }
  EXPECT_LT(refused, tries);
}

TEST_F(DamagedMemory, WordByWordIsReadOrRefusedSoon) {
  constexpr std::uint64_t kWords[] = {0, 1, UINT16_MAX, UINT32_MAX, UINT64_MAX, std::uint64_t{1} << 47};
  Random random(41);
  for (std::uint64_t tries = amount(3'000, 300'000); tries > 0 && !HasFailure(); --tries) {
    memory_ = small_program();
    for (std::uint64_t words = random.between(1, 3); words > 0; --words) {
      const Address at = memory_.address_of(random.below(memory_.size() - 8)) & ~Address{7};
      // A pointer to somewhere else is the most plausible lie.
      const std::uint64_t lie = random.below(2) == 0
                                    ? kWords[random.below(std::size(kWords))]
                                    : memory_.address_of(random.below(memory_.size())) & ~7ull;
      memory_.write(at, lie);
    }
    read();
  }
}

}  // namespace
}  // namespace tarn::test
