// The names of one file's addresses.
//
// Threads: one at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "profile/symbols/symbols.h"

namespace tarn::profile {

/// The addresses of one file, by the module in which they lie; behind calls.
using AddressesByModule = std::map<std::size_t, std::vector<std::uint64_t>>;

/// Is told what was found, address by address. No frames: no name is known.
using TakeFrames = std::function<void(std::uint64_t address, const std::vector<Frame>& frames)>;

/// \returns why not all has names, as a sentence; "": there is nothing to say.
std::string name_addresses(const HeapProfile& profile, const AddressesByModule& addresses,
                           const SymbolPlaces& places, const TakeFrames& take);

}  // namespace tarn::profile
