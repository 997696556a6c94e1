// What the headers and notes of an ELF core file say: which memory it holds and where, what was mapped from
// which file, and which process it is of. core(5), and for the notes fs/binfmt_elf.c of Linux.
//
// The file may be cut off (a limit, a full disk) or forged: each offset and count is checked against the file
// and against overflow, and what does not fit is left out.
#pragma once
#include <string>
#include <vector>

#include "dump_memory.h"
#include "input_file.h"
#include "source.h"

namespace tarn::observer {

/// Invariant: both lists of mappings are sorted and without overlaps.
struct CoreContents {
  std::vector<Mapping> segments;  // with their rights; without paths
  std::vector<Mapping> files;     // what was mapped from files: offset and path, without rights
  DumpMemory memory;
  int pid = 0;
  std::string program;
};

/// \throws ObserveError: not a core file, or one of another machine.
CoreContents read_core_contents(const InputFile& file, const std::string& path);

/// Puts both lists together. A file's part that has no segment (gdb's gcore leaves out what was never written
/// to) counts as readable.
std::vector<Mapping> mappings_of(const CoreContents& contents);

}  // namespace tarn::observer
