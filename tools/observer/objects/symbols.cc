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

constexpr std::size_t kLongestMangled = 4096;  // mangled; all names of a file may lie in each other

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

bool is_file(const Mapping& mapping) { return mapping.path.starts_with('/'); }

bool continues(const Module& module, const Mapping& mapping) {
  return mapping.start == module.end && (mapping.path.empty() || mapping.path == module.path);
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
    if (strnlen(name, kLongestMangled + 1) > kLongestMangled) return;
    const Address start = *bias + symbol.st_value;
    tables[start] = {start + symbol.st_size, name};
  });
  return tables;
}

Modules::Modules(std::span<const Mapping> mappings) {
  bool has_nameless_end = false;
  for (const Mapping& mapping : mappings) {
    if (!modules_.empty() && continues(modules_.back(), mapping) && !has_nameless_end) {
      modules_.back().end = mapping.end;
      has_nameless_end = mapping.path.empty();
    } else if (is_file(mapping) && !mapping.is_shared) {
      modules_.push_back({mapping.start, mapping.end, mapping.path});
      has_nameless_end = false;
    }
  }
}

const Module* Modules::find(Address address) const {
  if (modules_.empty() || address < modules_.front().start || address >= modules_.back().end) return nullptr;
  const auto behind = std::upper_bound(modules_.begin(), modules_.end(), address,
                                       [](Address a, const Module& module) { return a < module.start; });
  return address < behind[-1].end ? &behind[-1] : nullptr;
}

}  // namespace tarn::observer
