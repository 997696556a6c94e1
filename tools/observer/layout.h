// Where the library's fields lie in the observed program: what its descriptor says (src/observe/descriptor.h).
// So a tool reads the records of older and newer libraries.
// Threads: constant once read.
#pragma once
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "observer/source.h"

namespace tarn::observer {

struct Field {
  std::uint32_t offset = 0;
  std::uint16_t size = 0;  // bytes; 0 of a constant, whose value is the offset
};

class Layout {
 public:
  /// \throws ObserveError when what lies there is no descriptor, or one that this tool cannot read.
  static Layout read(const Source& source, Address descriptor);

  /// \throws ObserveError when the library has no such field.
  Field field(std::string_view name) const;
  std::optional<Field> find_field(std::string_view name) const;
  std::uint32_t value(std::string_view name) const { return field(name).offset; }
  std::uint32_t size_of(std::string_view record) const { return field(record).size; }
  /// \throws ObserveError when the library has no such root.
  Address root(std::string_view name) const;
  template <typename Use>
  void for_each_root(Use use) const {
    for (const auto& [name, address] : roots_) use(address);
  }
  const std::string& version() const { return version_; }

  /// Calls use(name without the prefix, field) for each field whose name begins with a prefix.
  template <typename Use>
  void for_each_field(std::string_view prefix, Use use) const {
    for (const auto& [name, field] : fields_)
      if (name.starts_with(prefix)) use(std::string_view(name).substr(prefix.size()), field);
  }

 private:
  void require_fields_inside_records() const;

  std::unordered_map<std::string, Field> fields_;
  std::unordered_map<std::string, Address> roots_;
  std::string version_;
};

/// \returns the number at a field of a record that was copied; up to 8 bytes of it.
inline std::uint64_t number_at(const std::byte* record, Field field) {
  std::uint64_t number = 0;
  std::memcpy(&number, record + field.offset, field.size < sizeof number ? field.size : sizeof number);
  return number;
}

/// \returns the number at a field of a record in the program; nothing where memory is not there.
std::optional<std::uint64_t> read_number(const Source& source, Address record, Field field);

}  // namespace tarn::observer
