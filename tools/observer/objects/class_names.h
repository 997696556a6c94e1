// Which C++ class an object is of, by the first word of its block: the address of the class's virtual table.
//
// The idea: the word before a virtual table's first entry is the address of the class's type_info. The second
// word of that is the address of its mangled name (Itanium C++ ABI, 2.5.2 and 2.9). Both are data of the
// program, so they are there in a stripped, static executable and in a core file. What looks like a table is
// believed only if the type_info is itself an object of one of the ABI's three classes of type_info; so a
// forged or chance word gets no name. Where there is no type_info (-fno-rtti), symbols tell.
//
// Threads: is_candidate from any; name_of from one at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "observer/objects/symbols.h"
#include "observer/process/source.h"

namespace tarn::observer {

class ClassNames {
 public:
  explicit ClassNames(const Source& source);

  /// Whether a block's first word may be a virtual table's address: it points to a word in a module.
  bool is_candidate(Address word) const { return word % sizeof(Address) == 0 && modules_.contains(word); }
  /// \returns the class's name as C++ writes it; "" of what is no virtual table.
  const std::string& name_of(Address table);

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kLongestName = 2048;
  using Page = std::array<std::byte, kPageBytes>;

  std::string find_name(Address table);
  std::optional<std::string> type_name_before(Address table);
  bool is_table_of_class_types(Address table);
  bool read_words(Address address, Address (&words)[2]);
  std::string read_text(Address address);
  const Page* page_at(Address address);

  const Source& source_;
  Modules modules_;
  Symbols symbols_;
  std::unordered_map<Address, std::string> names_;     // by table
  std::unordered_map<Address, bool> are_class_types_;  // by table of a type_info
  std::unordered_map<Address, std::optional<Page>> pages_;
};

/// The name as a table of text shows it: "shared Quest" of the block in which std::make_shared puts a count
/// and a Quest, "std::string" for what the library calls basic_string<...>.
std::string short_class_name(const std::string& name);

}  // namespace tarn::observer
