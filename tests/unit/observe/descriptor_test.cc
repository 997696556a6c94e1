#include "observe/descriptor.h"

#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <map>
#include <string>

#include "base/options/option_table.h"
#include "tarn/memory_pool.h"
#include "tarn/version.h"

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

}  // namespace
}  // namespace tarn::internal
