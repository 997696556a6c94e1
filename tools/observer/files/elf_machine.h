// Whether this tool can read a program's records, by the program's ELF header: it reads them as its own
// machine lays them out.
#pragma once
#include <elf.h>

#include <string>

namespace tarn::observer {

bool is_elf(const Elf64_Ehdr& header);

/// \returns what keeps a program of that kind from being read, as "is ...: do ..."; "": nothing.
/// \pre is_elf(header)
std::string machine_obstacle(const Elf64_Ehdr& header);

/// The same by the machine alone.
std::string machine_obstacle(unsigned elf_machine);

}  // namespace tarn::observer
