// Where the library's fields lie in the observed program: what its descriptor says
// (src/observe/descriptor.h). So a tool reads the records of older and newer libraries.
// Threads: constant once read.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "observer/process/source.h"
#include "observer/records/bytes.h"

namespace tarn::observer {

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
  /// The size of what lies there; 0: the library does not tell.
  std::uint64_t root_bytes(std::string_view name) const;
  /// Calls use(address, bytes).
  template <typename Use>
  void for_each_root(Use use) const {
    for (const auto& [name, root] : roots_) use(root.address, root.bytes);
  }
  const std::string& version() const { return version_; }

  /// Calls use(name without the prefix, field) for each field whose name begins with a prefix.
  template <typename Use>
  void for_each_field(std::string_view prefix, Use use) const {
    for (const auto& [name, field] : fields_)
      if (name.starts_with(prefix)) use(std::string_view(name).substr(prefix.size()), field);
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  void require_fields_inside_records() const;

  ByName<Field> fields_;
  struct Root {
    Address address = 0;
    std::uint64_t bytes = 0;
  };
  ByName<Root> roots_;
  std::string version_;
};

/// \returns one more than the number of the last size class that there is.
std::uint32_t count_of_classes(const Source& source, const Layout& layout);

/// \returns the number at a field of a record in the program; nothing where memory is not there.
std::optional<std::uint64_t> read_number(const Source& source, Address record, Field field);

}  // namespace tarn::observer
