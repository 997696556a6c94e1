#include "observer/files/elf_headers.h"

#include <fmt/format.h>

#include <bit>

namespace tarn::observer {
namespace {

#if defined(__x86_64__)
constexpr unsigned kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kOwnMachine = EM_AARCH64;
#else
#error "the ELF machine of this architecture"
#endif
constexpr unsigned char kOwnByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

std::string name_of_machine(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    default:
      return fmt::format("ELF machine {}", machine);
  }
}

}  // namespace

bool is_elf(const Elf64_Ehdr& header) { return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0; }

std::string machine_obstacle(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] == ELFCLASS32)
    return "is a 32-bit program, and tarn only runs in 64-bit ones: choose a 64-bit one";
  if (header.e_ident[EI_DATA] != kOwnByteOrder)
    return "is of a machine with the other byte order: run a tarn built for that machine";
  return machine_obstacle(header.e_machine);
}

std::string machine_obstacle(unsigned elf_machine) {
  if (elf_machine == kOwnMachine) return "";
  return fmt::format("is of {}, this tarn of {}: run a tarn built for that machine",
                     name_of_machine(elf_machine), name_of_machine(kOwnMachine));
}

}  // namespace tarn::observer
