// The records of a minidump that are read: names and values as in Breakpad's minidump_format.h, of which
// Microsoft's minidumpapiset.h is the source.
#pragma once
#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tarn::observer::minidump {

inline constexpr std::uint32_t kSignature = 0x504d444d;  // "MDMP"
inline constexpr std::uint32_t kVersion = 0xa793;        // in the lower half; the upper is the writer's
inline constexpr std::uint32_t kHasProcessId = 1;

enum class Stream : std::uint32_t {
  kModuleList = 4,
  kMemoryList = 5,
  kSystemInfo = 7,
  kMemory64List = 9,
  kMiscInfo = 15,
  kLinuxProcStatus = 0x47670004,
  kLinuxCommandLine = 0x47670006,
  kLinuxMaps = 0x47670009
};

#pragma pack(push, 4)
struct Header {
  std::uint32_t signature, version, streams, directory, checksum, time;
  std::uint64_t flags;
};
struct Directory {
  std::uint32_t type, bytes, offset;
};
struct MemoryDescriptor {
  std::uint64_t start;
  std::uint32_t bytes, offset;
};
struct Memory64List {
  std::uint64_t count, first_offset;
};
struct Memory64Descriptor {
  std::uint64_t start, bytes;
};
struct Module {
  std::uint64_t start;
  std::uint32_t bytes, checksum, time, name;  // name: offset of its length in bytes, then UTF-16
  std::uint32_t version_and_records[21];
};
struct MiscInfo {
  std::uint32_t bytes, flags, process_id;
};
#pragma pack(pop)
static_assert(sizeof(Header) == 32 && sizeof(Module) == 108 && sizeof(MemoryDescriptor) == 16);

/// The ELF machine of a processor as minidumps number them; EM_NONE: an unknown one.
constexpr unsigned elf_machine_of(std::uint16_t processor) {
  switch (processor) {
    case 0:
      return EM_386;
    case 5:
      return EM_ARM;
    case 9:
      return EM_X86_64;
    case 12:      // Microsoft's
    case 0x8003:  // Breakpad's, before Microsoft had one
      return EM_AARCH64;
    default:
      return EM_NONE;
  }
}

/// A name in UTF-8; what is not UTF-16 becomes '?'.
std::string utf8_of(const std::vector<char16_t>& text);

}  // namespace tarn::observer::minidump
