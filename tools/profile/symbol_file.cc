#include "symbol_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>

namespace tarn::profile {
namespace {

constexpr std::uint64_t kPageMask = 4095;

std::string build_id_of(Elf* elf) {
  const void* id = nullptr;
  const ssize_t bytes = elf == nullptr ? 0 : dwelf_elf_gnu_build_id(elf, &id);
  return bytes > 0 ? std::string(static_cast<const char*>(id), static_cast<std::size_t>(bytes)) : "";
}

std::string debug_path(const std::string& directory, const std::string& build_id) {
  std::string path = directory + "/.build-id/";
  for (std::size_t i = 0; i < build_id.size(); ++i)
    path += fmt::format("{:02x}{}", static_cast<unsigned char>(build_id[i]), i == 0 ? "/" : "");
  return path + ".debug";
}

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

std::unique_ptr<DebugFrames> frames_of(Elf* elf) {
  auto frames = std::make_unique<DebugFrames>(elf);
  return frames->is_empty() ? nullptr : std::move(frames);
}

}  // namespace

std::string SymbolFile::build_id() const { return build_id_of(file_->get()); }

std::vector<std::uint64_t> SymbolFile::addresses_at(std::uint64_t file_offset) const {
  std::vector<std::uint64_t> addresses;
  for_each_segment(file_->get(), [&](const GElf_Phdr& segment) {
    const std::uint64_t first = segment.p_offset & ~kPageMask, end = segment.p_offset + segment.p_filesz;
    if (file_offset >= first && file_offset < end)
      addresses.push_back(segment.p_vaddr - segment.p_offset + file_offset);
  });
  return addresses;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> SymbolFile::first_segment() const {
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first;
  for_each_segment(file_->get(), [&](const GElf_Phdr& segment) {
    if (!first) first = {segment.p_offset & ~kPageMask, segment.p_vaddr - (segment.p_offset & kPageMask)};
  });
  return first;
}

std::unique_ptr<observer::ElfFile> SymbolFile::open_debug_file(
    const std::vector<std::string>& directories) const {
  const std::string id = build_id();
  if (id.size() < 2) return nullptr;
  for (const std::string& directory : directories) {
    auto file = std::make_unique<observer::ElfFile>(debug_path(directory, id));
    if (file->get() != nullptr && build_id_of(file->get()) == id) return file;
  }
  return nullptr;
}

void SymbolFile::read_names(const std::vector<std::string>& debug_directories) {
  if (!is_elf()) return;
  functions_.add(file_->get());
  debug_ = frames_of(file_->get());
  if (debug_ != nullptr) return;
  debug_file_ = open_debug_file(debug_directories);
  if (debug_file_ == nullptr) return;
  functions_.add(debug_file_->get());
  debug_ = frames_of(debug_file_->get());
}

std::vector<Frame> SymbolFile::frames_at(std::uint64_t address) {
  std::vector<Frame> frames = debug_ == nullptr ? std::vector<Frame>{} : debug_->frames_at(address);
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
