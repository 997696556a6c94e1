// A heap profile as a program's memory tells it: the samples of its library, the pools they came from, the
// files it has mapped, and how much is live of which no sample tells.
#pragma once
#include <cstdint>
#include <string>

#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"
#include "observer/watch/sampling.h"
#include "profile/symbols/heap_profile.h"
#include "profile/symbols/symbols.h"

namespace tarn::tool {

/// Whether the program samples since its start, as its environment said: no block is older.
bool began_with_program(const observer::Source& source);

/// What was there when a profile began.
struct ProfileStart {
  observer::Sampling sampling;      // what was sampled before
  bool began_with_program = false;  // nothing is older
  std::uint64_t last_made_ns = 0;   // when its newest sample was made, by the program's clock
};

/// Whether live blocks of one stack are told apart by their size.
enum class BySize : bool { kNo, kYes };

/// \param sampling goes into the profile: a million stacks need their memory once. \param interval that
/// blocks were sampled at, bytes. \param seconds since the start.
profile::HeapProfile taken_profile(const observer::Source& source, const ProfileStart& start,
                                   observer::Sampling sampling, std::uint64_t interval, double seconds,
                                   BySize by_size = BySize::kNo);

/// The distance of two samples, as a user writes it. \returns bytes, at least 1. \throws UsageError
std::uint64_t sample_interval(const std::string& text);

/// Where the names of a program's code are looked for: of a process its files as it sees them, what it has
/// mapped, its memory, and what it tells of code that it has made; of a core file, files as this tool sees
/// them. \pre `source` outlives the result
profile::SymbolPlaces symbol_places(const observer::Source& source);

}  // namespace tarn::tool
