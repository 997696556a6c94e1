// Symbols, read with libelf.
#include "observer/objects/symbols.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "observer/files/build_id.h"
#include "observer/files/elf_headers.h"
#include "observer/files/outside_wait.h"
#include "observer/objects/demangle.h"
#include "observer/process/attached_process.h"

namespace tarn::observer {
namespace {

/// A file on disk, opened with libelf and closed again.
class ElfFile {
 public:
  explicit ElfFile(InputFile file) : file_(std::move(file)) {
    if (file_.is_open() && elf_version(EV_CURRENT) != EV_NONE)
      elf_.reset(elf_begin(file_.descriptor(), ELF_C_READ, nullptr));
    if (elf_ != nullptr && elf_kind(elf_.get()) != ELF_K_ELF) elf_.reset();
  }

  /// nullptr: there is no such file, or it is none of ELF.
  Elf* get() const { return elf_.get(); }
  const InputFile& file() const { return file_; }

 private:
  InputFile file_;
  std::unique_ptr<Elf, decltype(&elf_end)> elf_{nullptr, elf_end};
};

constexpr std::size_t kLongestName = 4096;  // mangled; all names of a file may lie in each other

/// \returns how far a file's symbols are from where they lie in memory; nothing if no ELF file lies there.
std::optional<Address> bias_in_memory(const Source& source, Address start) {
  constexpr unsigned kMostSegments = 64;
  const auto read = [&](std::uint64_t at, void* into, std::size_t bytes) {
    return source.read_all(start + at, into, bytes);
  };
  const std::optional<ElfHeaders> headers = elf_headers(read, kMostSegments);
  if (!headers) return std::nullopt;
  Address lowest = std::numeric_limits<Address>::max();
  for (const Elf64_Phdr& segment : headers->segments)
    if (segment.p_type == PT_LOAD) lowest = std::min<Address>(lowest, segment.p_vaddr - segment.p_offset);
  return start - lowest;
}

std::optional<std::string> build_id_in_memory(const Source& source, Address start) {
  return build_id_in([&](std::uint64_t offset, void* into, std::size_t bytes) {
    return source.read_all(start + offset, into, bytes);
  });
}

/// Calls visit(symbol, name) for each symbol of the file's two symbol tables.
template <typename Visit>
void for_each_symbol(Elf* elf, Visit visit) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (int i = 0; data != nullptr && i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      if (const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name)) visit(symbol, name);
    }
  }
}

}  // namespace

std::string Symbols::class_of_table(Address table) {
  const Module* const module = modules_.find(table);
  if (module == nullptr) return {};
  const auto [entry, is_new] = tables_.try_emplace(module);
  if (is_new) entry->second = read_tables(*module);
  const auto behind = entry->second.upper_bound(table);
  if (behind == entry->second.begin()) return {};
  const TableSymbol& symbol = std::prev(behind)->second;
  if (table >= symbol.end) return {};
  return demangle_class_of_table(symbol.mangled).value_or("");
}

Symbols::Tables Symbols::read_tables(const Module& module) const {
  const std::optional<Address> bias = bias_in_memory(source_, module.start);
  const OutsideWait waiting;
  const ElfFile file(file_of(source_, module.path));
  if (!bias || file.get() == nullptr) return {};
  if (build_id_in(file.file()) != build_id_in_memory(source_, module.start)) return {};
  Tables tables;
  for_each_symbol(file.get(), [&](const GElf_Sym& symbol, const char* name) {
    if (symbol.st_size == 0 || std::strncmp(name, "_ZTV", 4) != 0) return;
    if (strnlen(name, kLongestName + 1) > kLongestName) return;
    const Address start = *bias + symbol.st_value;
    tables[start] = {start + symbol.st_size, name};
  });
  return tables;
}

}  // namespace tarn::observer
