#include "profile/files/symbol_file.h"

#include <dwarf.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "profile/files/plain_sections.h"
#include "profile/names/function_name.h"

namespace tarn::profile {
namespace {

// DWARF may be forged: lengths have limits.
constexpr std::size_t kMostRanges = std::size_t{1} << 24;

/// Calls visit(child) for each child; a visit that returns false ends it.
template <typename Visit>
void for_each_child(Dwarf_Die& parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    if (!visit(child)) return;
  } while (dwarf_siblingof(&child, &child) == 0);
}

bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module;
}

bool is_scope(int tag) {
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
         tag == DW_TAG_catch_block;
}

void set_line(Dwarf_Die& unit, std::uint64_t address, Frame& frame) {
  Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
  if (line == nullptr) return;
  int number = 0;
  if (const char* const file = dwarf_linesrc(line, nullptr, nullptr)) frame.file = file;
  if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = static_cast<unsigned>(number);
}

unsigned number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &number) != 0) return 0;
  return static_cast<unsigned>(std::min<Dwarf_Word>(number, UINT32_MAX));
}

/// The place at which a function was inlined.
void set_call_site(Dwarf_Die& unit, Dwarf_Die& inlined, Frame& frame) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  frame.line = number_of(inlined, DW_AT_call_line);
  const std::size_t file = number_of(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) return;
  if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr)) frame.file = name;
}

/// The functions that hold the address, outermost first.
std::vector<Dwarf_Die> functions_around(Dwarf_Die function, std::uint64_t address) {
  std::vector<Dwarf_Die> around{function};
  Dwarf_Die scope = function;
  bool is_deeper = true;
  for (int depth = 0; is_deeper && depth < kDeepestScope; ++depth) {
    is_deeper = false;
    Dwarf_Die parent = scope;
    for_each_child(parent, [&](Dwarf_Die& child) {
      if (!is_scope(dwarf_tag(&child)) || dwarf_haspc(&child, address) != 1) return true;
      if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) around.push_back(child);
      scope = child;
      is_deeper = true;
      return false;
    });
  }
  return around;
}

// -- What a call of `new` makes: the constructor behind it ------------------------------------------------

/// So far behind the call a constructor that was inlined begins, or the call of one returns.
constexpr std::uint64_t kBytesBehind = 96;

/// Where an inlined function begins, or a call returns; 0: it is neither, or not known.
std::uint64_t place_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Addr address = 0;
  switch (dwarf_tag(&die)) {
    case DW_TAG_inlined_subroutine: {
      Dwarf_Addr base = 0, start = 0, end = 0, first = UINT64_MAX;
      for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
        first = std::min(first, start);
      return first == UINT64_MAX ? 0 : first;
    }
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
      for (const unsigned name : {DW_AT_call_return_pc, DW_AT_low_pc})
        if (dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formaddr(&attribute, &address) == 0)
          return address;
      return 0;
    default:
      return 0;
  }
}

/// The function that was inlined or called there.
std::string function_used_by(Dwarf_Die& die, ScopedNames& names) {
  if (dwarf_tag(&die) == DW_TAG_inlined_subroutine) return names.function_of(die);
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  for (const unsigned name : {DW_AT_call_origin, DW_AT_abstract_origin})
    if (dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formref_die(&attribute, &origin) != nullptr)
      return names.function_of(origin);
  return {};
}

constexpr std::uint64_t kPageMask = 4095;

/// Calls visit(segment) for each segment that is loaded.
template <typename Visit>
void for_each_segment(Elf* elf, Visit visit) {
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return;
    if (segment.p_type == PT_LOAD) visit(segment);
  }
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; },
    .find_debuginfo = find_debug_file,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr};

}  // namespace

DebugFrames::DebugFrames(Dwarf* debug, std::unique_ptr<DwoPackage> package) : package_(std::move(package)) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, split;
  std::uint8_t kind = 0;
  while (dwarf_get_units(debug, unit, &unit, nullptr, &kind, &die, &split) == 0) {
    if (kind != DW_UT_compile && kind != DW_UT_skeleton) continue;
    add_ranges(die, units_);
    if (kind == DW_UT_skeleton) full_units_[die.addr] = split;
  }
  std::sort(units_.begin(), units_.end(),
            [](const DieRange& a, const DieRange& b) { return a.start < b.start; });
}

void DebugFrames::add_ranges(Dwarf_Die& die, Ranges& ranges) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) {
    if (ranges.size() == kMostRanges) return;
    // A linker writes 0 or 1 for what it left out.
    if (start > 1 && start < end) ranges.push_back({start, end, die});
  }
}

void DebugFrames::add_functions(Dwarf_Die& parent, int depth, Ranges& ranges) {
  if (depth == kDeepestScope) return;
  for_each_child(parent, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_ranges(child, ranges);
    if (holds_functions(tag)) add_functions(child, depth + 1, ranges);
    return ranges.size() < kMostRanges;
  });
}

Dwarf_Die& DebugFrames::full_unit(Dwarf_Die& unit) {
  const auto split = full_units_.find(unit.addr);
  if (split == full_units_.end()) return unit;
  if (split->second.addr == nullptr && !package_->find(unit, split->second)) split->second = unit;
  return split->second;
}

DebugFrames::Ranges& DebugFrames::functions_of(Dwarf_Die& unit) {
  const auto [entry, is_new] = functions_.try_emplace(unit.addr);
  if (is_new) {
    add_functions(unit, 0, entry->second);
    std::sort(entry->second.begin(), entry->second.end(),
              [](const DieRange& a, const DieRange& b) { return a.start < b.start; });
  }
  return entry->second;
}

DebugFrames::DieRange* DebugFrames::find(Ranges& ranges, std::uint64_t address) {
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](std::uint64_t a, const DieRange& range) { return a < range.start; });
  return behind != ranges.begin() && address < behind[-1].end ? &behind[-1] : nullptr;
}

std::string DebugFrames::class_made_behind(Dwarf_Die scope, std::uint64_t address, unsigned line) {
  std::string made;
  std::uint64_t nearest = kBytesBehind;
  std::vector<Dwarf_Die> scopes{scope};
  for (int depth = 0; !scopes.empty() && depth < kDeepestScope; ++depth) {
    Dwarf_Die parent = scopes.back();
    scopes.pop_back();
    for_each_child(parent, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (is_scope(tag) && tag != DW_TAG_inlined_subroutine) scopes.push_back(child);
      const std::uint64_t behind = place_of(child) - address - 1;
      if (behind >= nearest) return true;
      if (tag == DW_TAG_inlined_subroutine && number_of(child, DW_AT_call_line) != line) return true;
      if (std::string found = class_constructed_by(function_used_by(child, names_)); !found.empty()) {
        made = std::move(found);
        nearest = behind;
      }
      return true;
    });
  }
  return made;
}

std::vector<Frame> DebugFrames::frames_at(std::uint64_t address) {
  DieRange* const unit = find(units_, address);
  if (unit == nullptr) return {};
  Frame place;
  set_line(unit->die, address, place);
  Dwarf_Die& full = full_unit(unit->die);
  DieRange* const function = find(functions_of(full), address);
  if (function == nullptr) return place.line == 0 ? std::vector<Frame>{} : std::vector<Frame>{place};

  std::vector<Frame> frames;
  std::vector<Dwarf_Die> around = functions_around(function->die, address);
  for (auto die = around.rbegin(); die != around.rend(); ++die) {
    place.is_inlined = dwarf_tag(&*die) == DW_TAG_inlined_subroutine;
    place.function = names_.function_of(*die);
    frames.push_back(place);
    place = Frame{};
    if (frames.back().is_inlined) set_call_site(full, *die, place);
  }
  frames.front().makes = class_made_behind(around.back(), address, frames.front().line);
  return frames;
}

SymbolFile::SymbolFile(observer::InputFile file, const std::string& path, const DebugPlaces& places)
    : path_(path), places_(&places), dwfl_(dwfl_begin(&kCallbacks)) {
  const int descriptor = with_plain_sections(std::move(file)).release();
  if (descriptor < 0) return;
  dwfl_report_begin(dwfl_.get());
  module_ = dwfl_report_elf(dwfl_.get(), "", path.c_str(), descriptor, 0, true);
  if (module_ == nullptr) close(descriptor);
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  if (module_ == nullptr) return;
  void** user_data = nullptr;
  dwfl_module_info(module_, &user_data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *user_data = const_cast<DebugPlaces*>(&places);
  GElf_Addr bias = 0;
  elf_ = dwfl_module_getelf(module_, &bias);
}

std::string SymbolFile::build_id() const { return build_id_of(elf_); }

std::vector<std::uint64_t> SymbolFile::addresses_at(std::uint64_t file_offset) const {
  std::vector<std::uint64_t> addresses;
  for_each_segment(elf_, [&](const GElf_Phdr& segment) {
    const std::uint64_t first = segment.p_offset & ~kPageMask, end = segment.p_offset + segment.p_filesz;
    if (file_offset >= first && file_offset < end)
      addresses.push_back(segment.p_vaddr - segment.p_offset + file_offset);
  });
  return addresses;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> SymbolFile::first_segment() const {
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first;
  for_each_segment(elf_, [&](const GElf_Phdr& segment) {
    if (!first) first = {segment.p_offset & ~kPageMask, segment.p_vaddr - (segment.p_offset & kPageMask)};
  });
  return first;
}

void SymbolFile::read_names() {
  has_read_names_ = true;
  if (Dwarf* const debug = dwfl_module_getdwarf(module_, &debug_bias_))
    debug_ = DebugFrames(debug, std::make_unique<DwoPackage>(places_->open(path_ + ".dwp"), debug));
  functions_ = ElfFunctions(module_);
}

std::vector<Frame> SymbolFile::frames_at(std::uint64_t address) {
  if (!has_read_names_) read_names();
  std::vector<Frame> frames = debug_.frames_at(address - debug_bias_);
  // The symbol is the whole name; with little debug information (-g1) a function's name there has no
  // namespace.
  if (std::optional<std::string> symbol = functions_.name_at(address)) {
    if (frames.empty()) frames.emplace_back();
    frames.back().function = *std::move(symbol);
  }
  if (!frames.empty() && frames.back().function.empty()) return {};
  for (Frame& frame : frames)
    if (frame.function.empty()) frame.function = "[inlined]";
  return frames;
}

}  // namespace tarn::profile
