// A program or library as a source of frames: libdwfl reads its symbols and its debug information, wherever
// either is kept (debug_file.h, .gnu_debugdata, split DWARF).
//
// Threads: one at a time.
#pragma once
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug_file.h"
#include "debug_frames.h"
#include "elf_functions.h"
#include "frame.h"
#include "observer/input_file.h"

namespace tarn::profile {

class SymbolFile {
 public:
  /// \param path as the program names the file, beside which its debug file may be
  /// \param places must outlive it
  SymbolFile(observer::InputFile file, const std::string& path, const DebugPlaces& places);

  bool is_elf() const { return elf_ != nullptr; }
  /// As bytes; "" = none.
  std::string build_id() const;
  /// Addresses in the file at which a mapping of `file_offset` can start, ascending. Two segments may share a
  /// page of the file.
  std::vector<std::uint64_t> addresses_at(std::uint64_t file_offset) const;
  /// The offset of the first segment, rounded down to a page, and its address.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_segment() const;

  /// \returns innermost first; empty: no name is known.
  std::vector<Frame> frames_at(std::uint64_t address);

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  void read_names();

  std::string path_;
  const DebugPlaces* places_;
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  bool has_read_names_ = false;
  std::uint64_t debug_bias_ = 0;
  DebugFrames debug_;
  ElfFunctions functions_;
};

}  // namespace tarn::profile
