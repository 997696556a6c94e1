#include "observer/records/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "observe/descriptor.h"
#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

using internal::ObserveDescriptor;
using internal::ObservedField;
using internal::ObservedRoot;

constexpr std::uint32_t kMostEntries = 4096;
constexpr std::uint32_t kLargestEntry = 256;  // bytes

[[noreturn]] void refuse(const std::string& why) {
  throw ObserveError("the library's descriptor cannot be read: " + why);
}

/// Text of at most `room` bytes, which may lack its 0.
std::string text_in(const char* start, std::size_t room) { return printable({start, strnlen(start, room)}); }

struct Table {
  Address start;
  std::uint32_t count, entry_bytes;
};

/// Calls use(entry) for each entry of a table. Entries of newer libraries may be longer; what is missing of
/// shorter ones, which have `least` bytes, is zeros.
template <typename Entry, typename Use>
void read_table(const Source& source, const Table& table, std::size_t least, Use use) {
  if (table.count > kMostEntries || table.entry_bytes < least || table.entry_bytes > kLargestEntry)
    refuse("a table of it is damaged");
  std::vector<std::byte> bytes(std::size_t{table.count} * table.entry_bytes);
  if (!source.read_all(table.start, bytes.data(), bytes.size())) refuse("a table of it is not there");
  for (std::uint32_t i = 0; i < table.count; ++i) {
    Entry entry{};
    std::memcpy(&entry, bytes.data() + std::size_t{i} * table.entry_bytes,
                std::min<std::size_t>(table.entry_bytes, sizeof entry));
    use(entry);
  }
}

ObserveDescriptor read_descriptor(const Source& source, Address at) {
  ObserveDescriptor descriptor{};
  if (!source.read_all(at, &descriptor, sizeof descriptor)) refuse("it is not there");
  if (descriptor.magic != ObserveDescriptor::kMagic || reinterpret_cast<Address>(descriptor.self) != at ||
      descriptor.bytes < sizeof descriptor)
    refuse("it is damaged, or of a library that is newer than this tool");
  if (descriptor.word_bytes != sizeof(void*)) refuse("it is of another architecture");
  return descriptor;
}

}  // namespace

Layout Layout::read(const Source& source, Address at) {
  const ObserveDescriptor descriptor = read_descriptor(source, at);
  Layout layout;
  layout.version_ = text_in(descriptor.version, sizeof descriptor.version);
  read_table<ObservedField>(
      source, {reinterpret_cast<Address>(descriptor.fields), descriptor.field_count, descriptor.field_bytes},
      sizeof(ObservedField), [&](const ObservedField& field) {
        layout.fields_[text_in(field.name, sizeof field.name)] = {field.offset, field.size};
      });
  read_table<ObservedRoot>(
      source, {reinterpret_cast<Address>(descriptor.roots), descriptor.root_count, descriptor.root_bytes},
      offsetof(ObservedRoot, bytes), [&](const ObservedRoot& root) {
        layout.roots_[text_in(root.name, sizeof root.name)] = {reinterpret_cast<Address>(root.address),
                                                               root.bytes};
      });
  layout.require_fields_inside_records();
  return layout;
}

void Layout::require_fields_inside_records() const {
  for (const auto& [name, field] : fields_) {
    const std::optional<Field> record = find_field(name.substr(0, name.find('.')));
    if (!record || field.size == 0) continue;
    if (std::uint64_t{field.offset} + field.size > record->size)
      refuse(fmt::format("field {} lies outside of its record", name));
  }
}

std::optional<Field> Layout::find_field(std::string_view name) const {
  const auto found = fields_.find(name);
  return found != fields_.end() ? std::optional(found->second) : std::nullopt;
}

Field Layout::field(std::string_view name) const {
  if (const std::optional<Field> found = find_field(name)) return *found;
  refuse(fmt::format("tarn {} does not tell where {} lies: take the tarn command of that version", version_,
                     name));
}

Address Layout::root(std::string_view name) const {
  const auto found = roots_.find(name);
  if (found != roots_.end()) return found->second.address;
  refuse(
      fmt::format("tarn {} does not tell of its {}: take the tarn command of that version", version_, name));
}

std::uint64_t Layout::root_bytes(std::string_view name) const {
  const auto found = roots_.find(name);
  return found != roots_.end() ? found->second.bytes : 0;
}

std::uint32_t count_of_classes(const Source& source, const Layout& layout) {
  constexpr std::uint64_t kMostClasses = 32768;
  const std::uint64_t count = read_number(source, layout.root("end_of_classes"), {0, 4}).value_or(0);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(count, layout.value("bin_count"), kMostClasses));
}

std::optional<std::uint64_t> read_number(const Source& source, Address record, Field field) {
  std::uint64_t number = 0;
  const std::size_t bytes = field.size < sizeof number ? field.size : sizeof number;
  if (!source.read_all(record + field.offset, &number, bytes)) return std::nullopt;
  return number;
}

}  // namespace tarn::observer
