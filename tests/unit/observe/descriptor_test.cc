#include "observe/descriptor.h"

#include <link.h>

#include "base/options/option_table.h"
#include "central/owners.h"
#include "general/pools/pool_registry.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/observe.h"
#include "tarn/version.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

const ObserveDescriptor& descriptor() { return tarn_observe_descriptor; }

std::map<std::string, ObservedField> fields() {
  std::map<std::string, ObservedField> by_name;
  for (std::uint32_t i = 0; i < descriptor().field_count; ++i)
    by_name[descriptor().fields[i].name] = descriptor().fields[i];
  return by_name;
}

TEST(ObserveDescriptor, TellsOfItselfAndItsTables) {
  EXPECT_EQ(std::memcmp(&descriptor().magic, "tarnobs1", 8), 0);
  EXPECT_EQ(descriptor().bytes, sizeof(ObserveDescriptor));
  EXPECT_EQ(descriptor().self, &descriptor());
  EXPECT_EQ(descriptor().word_bytes, sizeof(void*));
  EXPECT_EQ(descriptor().field_bytes, sizeof(ObservedField));
  EXPECT_EQ(descriptor().root_bytes, sizeof(ObservedRoot));
  EXPECT_STREQ(descriptor().version, TARN_VERSION_STRING);
}

TEST(ObserveDescriptor, NamesEachFieldOnceAndWhole) {
  EXPECT_EQ(fields().size(), descriptor().field_count);
  for (const auto& [name, field] : fields()) {
    EXPECT_FALSE(name.empty());
    EXPECT_LT(name.size(), sizeof field.name);
  }
}

TEST(ObserveDescriptor, HasFieldsInsideOfTheirRecords) {
  const std::map<std::string, ObservedField> all = fields();
  unsigned inside = 0;
  for (const auto& [name, field] : all) {
    const auto record = all.find(name.substr(0, name.find('.')));
    if (record == all.end() || record->first == name || field.size == 0) continue;
    ++inside;
    EXPECT_LE(field.offset + field.size, record->second.size) << name;
  }
  EXPECT_GT(inside, 30u);
}

TEST(ObserveDescriptor, HasAnOptionForEachRowOfTheTable) {
  const std::map<std::string, ObservedField> all = fields();
  for (const OptionInfo& option : kOptionTable)
    EXPECT_TRUE(all.contains(std::string("opt.") + option.key)) << option.key;
}

TEST(ObserveDescriptor, HasRootsThatAreThere) {
  for (std::uint32_t i = 0; i < descriptor().root_count; ++i)
    EXPECT_NE(descriptor().roots[i].address, nullptr) << descriptor().roots[i].name;
}

/// The address that the note of a loaded file leads to.
const void* target_of_note(const dl_phdr_info& file) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto& header = file.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(file.dlpi_addr + header.p_vaddr);
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) < header.p_filesz;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, notes + at, sizeof note);
      const char* const name = notes + at + sizeof note;
      const char* const contents = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == ObserveDescriptor::kNoteType &&
          note.n_namesz == sizeof ObserveDescriptor::kNoteName &&
          std::memcmp(name, ObserveDescriptor::kNoteName, note.n_namesz) == 0) {
        std::int64_t distance;
        std::memcpy(&distance, contents, sizeof distance);
        return contents + distance;
      }
      at = static_cast<std::size_t>(contents - notes) + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return nullptr;
}

TEST(ObserveDescriptor, IsWhereTheNoteOfTheFileSays) {
  const void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* target) {
        const void*& address = *static_cast<const void**>(target);
        if (address == nullptr) address = target_of_note(*file);
        return 0;
      },
      &found);
  EXPECT_EQ(found, &tarn_observe_descriptor);
}

// -- The ranges that a dump needs hold the library's records, do not overlap, and can be had in a handler.

struct Range {
  const char* start;
  const char* end;
};

std::vector<Range> ranges() {
  std::vector<Range> found;
  visit_metadata_ranges([&](const void* start, std::size_t bytes) {
    found.push_back({static_cast<const char*>(start), static_cast<const char*>(start) + bytes});
  });
  std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  return found;
}

bool are_held(const void* record, std::size_t bytes) {
  const auto* const start = static_cast<const char*>(record);
  const std::vector<Range> all = ranges();
  return std::any_of(all.begin(), all.end(),
                     [&](const Range& range) { return range.start <= start && start + bytes <= range.end; });
}

TEST(RecordRanges, HoldTheDataTheRecordsAndTheTables) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  ASSERT_NE(block_of_heap, nullptr);
  EXPECT_TRUE(are_held(&metadata, sizeof metadata));
  EXPECT_TRUE(are_held(&page_map, sizeof page_map));
  EXPECT_TRUE(are_held(&page_cache, sizeof page_cache));
  EXPECT_TRUE(are_held(&registry, sizeof registry));
  EXPECT_TRUE(are_held(&owners.shared(), sizeof(SlabOwner)));
  EXPECT_TRUE(are_held(&pool_registry, sizeof pool_registry));
  EXPECT_TRUE(are_held(this_heap(), sizeof(ThreadHeap)));
  for (const void* const one : {block, block_of_heap}) {
    const Span* const span = page_map.find(one);
    EXPECT_TRUE(are_held(span, sizeof(Span)));
    const Region& region = page_map.region(0);
    EXPECT_TRUE(are_held(region.spans + (address_of(one) - address_of(region.start)) / kPageBytes, 8));
    EXPECT_FALSE(are_held(one, 1)) << "a block";
  }
  EXPECT_TRUE(are_held(page_map.region(0).chunks, sizeof(Chunk)));
  tarn::deallocate(block);
}

// The address sanitizer keeps bytes between variables that nobody else may read.
__attribute__((no_sanitize("address"))) std::size_t sum_of_a_byte_in_each_os_page(const Range& range) {
  std::size_t sum = 0;
  for (const char* at = range.start; at < range.end; at += 4096) sum += static_cast<unsigned char>(*at);
  return sum;
}

TEST(RecordRanges, CanBeReadAndDoNotOverlap) {
  for (int i = 0; i < 100; ++i) static_cast<void>(metadata.allocate(8000));
  const std::vector<Range> all = ranges();
  ASSERT_GE(all.size(), 4u);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(i == 0 || all[i - 1].end <= all[i].start);
    sum += sum_of_a_byte_in_each_os_page(all[i]);
  }
  EXPECT_NE(sum, 0u);
}

TEST(RecordRanges, BeginWithTheFileThatTheLibraryIsIn) {
  const std::vector<Range> all = ranges();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [](const Range& range) { return std::memcmp(range.start, "\177ELF", 4) == 0; }));
}

std::size_t bytes_in_handler = 0;

TEST(RecordRanges, AreThereInAHandlerWhileTheMetadataIsLocked) {
  signal(SIGUSR1, [](int) {
    tarn_visit_metadata_ranges([](const void*, std::size_t bytes, void*) { bytes_in_handler += bytes; },
                               nullptr);
  });
  const os::LockGuard guard(os::global_mutex<os::LockRank::kMetadata>());
  raise(SIGUSR1);
  EXPECT_GT(bytes_in_handler, sizeof metadata);
}

}  // namespace
}  // namespace tarn::internal
