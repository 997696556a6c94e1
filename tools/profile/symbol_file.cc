#include "symbol_file.h"

#include <gelf.h>
#include <unistd.h>

#include <utility>

#include "plain_sections.h"

namespace tarn::profile {
namespace {

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
