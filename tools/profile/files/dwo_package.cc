#include "profile/files/dwo_package.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace tarn::profile {
namespace {

constexpr std::uint32_t kMostUnits = 1u << 22, kMostColumns = 16;

/// The bytes of a section; empty: there is none.
std::string_view section_of(Elf* elf, std::string_view name) {
  std::size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* const text = elf_strptr(elf, names, header.sh_name);
    if (text == nullptr || name != text) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) elf_compress(section, 0, 0);
    const Elf_Data* const data = elf_getdata(section, nullptr);
    return data == nullptr ? std::string_view{}
                           : std::string_view(static_cast<const char*>(data->d_buf), data->d_size);
  }
  return {};
}

template <typename Number>
Number number_at(std::string_view bytes, std::uint64_t at) {
  Number number = 0;
  if (at <= bytes.size() && bytes.size() - at >= sizeof number)
    std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::optional<std::uint64_t> number_of(Dwarf_Die& die, std::initializer_list<unsigned> names) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  for (const unsigned name : names)
    if (dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formudata(&attribute, &number) == 0)
      return number;
  return std::nullopt;
}

/// What a section of the index is called, by its number there; without ".dwo", as all sections of a file must
/// be alike.
const char* name_of(unsigned section, bool is_gnu) {
  switch (section) {
    case 1:
      return ".debug_info";
    case 3:
      return ".debug_abbrev";
    case 4:
      return ".debug_line";
    case 6:
      return ".debug_str_offsets";
    case 8:
      return is_gnu ? nullptr : ".debug_rnglists";
    default:
      return nullptr;
  }
}

/// An ELF file of sections, in the making.
class Image {
 public:
  Image() { add("", ""); }  // the first section is none

  void add(const char* name, std::string_view bytes) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    header.sh_type = *name == '\0' ? SHT_NULL : SHT_PROGBITS;
    header.sh_offset = sizeof(Elf64_Ehdr) + bytes_.size();
    header.sh_size = bytes.size();
    header.sh_addralign = 1;
    headers_.push_back(header);
    names_.append(name).push_back('\0');
    bytes_ += bytes;
  }

  std::string finish(const GElf_Ehdr& like) {
    const std::string names = names_ + ".shstrtab";
    add(".shstrtab", std::string_view(names.c_str(), names.size() + 1));
    headers_.back().sh_type = SHT_STRTAB;
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, like.e_ident, EI_NIDENT);
    head.e_type = ET_REL;
    head.e_machine = like.e_machine;
    head.e_version = EV_CURRENT;
    head.e_ehsize = sizeof head;
    head.e_shoff = sizeof head + bytes_.size();
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = static_cast<Elf64_Half>(headers_.size());
    head.e_shstrndx = static_cast<Elf64_Half>(headers_.size() - 1);
    std::string image(reinterpret_cast<const char*>(&head), sizeof head);
    return image.append(bytes_).append(reinterpret_cast<const char*>(headers_.data()),
                                       headers_.size() * sizeof(Elf64_Shdr));
  }

 private:
  std::vector<Elf64_Shdr> headers_;
  std::string names_, bytes_;
};

std::string_view behind(std::string_view bytes, std::uint64_t at) {
  return bytes.substr(std::min<std::uint64_t>(at, bytes.size()));
}

}  // namespace

DwoPackage::DwoPackage(observer::InputFile file, Dwarf* main)
    : file_(std::move(file)),
      elf_(file_.is_open() ? elf_begin(file_.descriptor(), ELF_C_READ, nullptr) : nullptr),
      main_(main) {}

std::vector<DwoPackage::Part> DwoPackage::parts_of(std::uint64_t id) const {
  const std::string_view index = section_of(elf_.get(), ".debug_cu_index");
  const auto columns = number_at<std::uint32_t>(index, 4), units = number_at<std::uint32_t>(index, 8),
             slots = number_at<std::uint32_t>(index, 12);
  std::vector<Part> parts;
  if (columns > kMostColumns || units > kMostUnits || slots > 4 * kMostUnits) return parts;
  const std::uint64_t rows = 16 + std::uint64_t{slots} * 8, table = rows + std::uint64_t{slots} * 4;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const auto row = number_at<std::uint32_t>(index, rows + slot * 4);
    if (row == 0 || row > units || number_at<std::uint64_t>(index, 16 + slot * 8) != id) continue;
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint64_t offset = table + (std::uint64_t{row} * columns + column) * 4;
      parts.push_back({number_at<std::uint32_t>(index, table + column * 4),
                       number_at<std::uint32_t>(index, offset),
                       number_at<std::uint32_t>(index, offset + std::uint64_t{units} * columns * 4)});
    }
    break;
  }
  return parts;
}

std::string DwoPackage::image_of(Dwarf_Die& skeleton, const std::vector<Part>& parts) const {
  const bool is_gnu = number_at<std::uint32_t>(section_of(elf_.get(), ".debug_cu_index"), 0) == 2;
  Image image;
  for (const Part& part : parts)
    if (const char* const name = name_of(part.section, is_gnu))
      image.add(
          name,
          behind(section_of(elf_.get(), name + std::string(".dwo")), part.offset).substr(0, part.bytes));
  image.add(".debug_str", section_of(elf_.get(), ".debug_str.dwo"));
  Elf* const main = dwarf_getelf(main_);
  const auto addresses = number_of(skeleton, {DW_AT_addr_base, DW_AT_GNU_addr_base});
  const auto ranges = number_of(skeleton, {DW_AT_GNU_ranges_base});
  if (addresses) image.add(".debug_addr", behind(section_of(main, ".debug_addr"), *addresses));
  if (is_gnu) image.add(".debug_ranges", behind(section_of(main, ".debug_ranges"), ranges.value_or(0)));
  GElf_Ehdr head;
  return gelf_getehdr(main, &head) != nullptr ? image.finish(head) : "";
}

bool DwoPackage::find(Dwarf_Die& skeleton, Dwarf_Die& full) {
  std::uint64_t id = 0;
  std::uint8_t kind = 0;
  if (elf_ == nullptr ||
      dwarf_cu_info(skeleton.cu, nullptr, &kind, nullptr, nullptr, &id, nullptr, nullptr) != 0)
    return false;
  const auto [entry, is_new] = units_.try_emplace(id);
  Unit& unit = entry->second;
  if (is_new) {
    const std::vector<Part> parts = parts_of(id);
    if (!parts.empty()) unit.image = image_of(skeleton, parts);
    if (!unit.image.empty()) unit.elf.reset(elf_memory(unit.image.data(), unit.image.size()));
    if (unit.elf != nullptr) unit.debug.reset(dwarf_begin_elf(unit.elf.get(), DWARF_C_READ, nullptr));
  }
  Dwarf_CU* next = nullptr;
  return unit.debug != nullptr &&
         dwarf_get_units(unit.debug.get(), nullptr, &next, nullptr, nullptr, &full, nullptr) == 0;
}

}  // namespace tarn::profile
