// An ELF file as a source of frames: its debug information, that of a separate file of the same build id, or
// its symbol tables.
//
// Threads: one at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug_frames.h"
#include "elf_functions.h"
#include "frame.h"
#include "observer/elf_file.h"

namespace tarn::profile {

class SymbolFile {
 public:
  /// Opens a file; nothing is parsed yet.
  explicit SymbolFile(const std::string& path) : file_(std::make_unique<observer::ElfFile>(path)) {}

  bool is_elf() const { return file_->get() != nullptr; }
  /// As bytes; "" = none.
  std::string build_id() const;
  /// Addresses in the file at which a mapping of `file_offset` can start, ascending. Two segments may share a
  /// page of the file.
  std::vector<std::uint64_t> addresses_at(std::uint64_t file_offset) const;
  /// The offset of the first segment, rounded down to a page, and its address.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_segment() const;

  /// Reads the names. Debug information that the file lacks is looked for in `debug_directories`, as
  /// DIRECTORY/.build-id/xx/yyyy.debug.
  void read_names(const std::vector<std::string>& debug_directories);
  /// \pre read_names. \returns innermost first; empty: no name is known.
  std::vector<Frame> frames_at(std::uint64_t address);

 private:
  std::unique_ptr<observer::ElfFile> open_debug_file(const std::vector<std::string>& directories) const;

  std::unique_ptr<observer::ElfFile> file_, debug_file_;
  std::unique_ptr<DebugFrames> debug_;
  ElfFunctions functions_;
};

}  // namespace tarn::profile
