// What another process needs to read this one's heap: where the library's records begin, and where each of
// their fields lies. Found by an ELF note, which survives strip, static linking and --gc-sections; the note
// holds its distance to the descriptor. All of it lies in writable data, so that core files have it. No code
// uses it; general/options/setup.cc names it, so that programs get it from an archive.
//
// This is a format: a tool reads the descriptors of older and newer libraries. Members are only added, at the
// end, and `bytes` says how many there are; names of fields and roots stay, or the tool says what it misses.
//
// Threads: constant.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

/// A field of a record, or with a name without a dot the record itself. A constant has size 0, and its value
/// in `offset`.
struct ObservedField {
  char name[26];
  std::uint16_t size;  // bytes; of an array of records, of one
  std::uint32_t offset;
};
static_assert(sizeof(ObservedField) == 32);

/// Where to begin: a global of the library. Older libraries do not tell its size.
struct ObservedRoot {
  char name[24];
  const void* address;
  std::size_t bytes;
};

struct ObserveDescriptor {
  static constexpr std::uint64_t kMagic = 0x3173626f6e726174;  // "tarnobs1", lowest byte first
  static constexpr char kNoteName[] = "tarn";
  static constexpr std::uint32_t kNoteType = 1;

  std::uint64_t magic;
  std::uint32_t bytes;       // of this struct
  std::uint32_t word_bytes;  // of a pointer
  const ObserveDescriptor* self;
  const ObservedField* fields;
  const ObservedRoot* roots;
  std::uint32_t field_count, field_bytes;
  std::uint32_t root_count, root_bytes;
  char version[16];  // of the library
};

// Its name is the note's.
extern "C" ObserveDescriptor tarn_observe_descriptor;

}  // namespace tarn::internal
