// Styles of text that become colours only where the reader's terminal shows them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "observer/text/printable.h"

namespace tarn::tool {

enum class Style : std::uint8_t { kPlain, kHeading, kGood, kBad, kFaint };
enum class Colour : std::uint8_t { kOff, kOn };

std::string styled(const std::string& text, Style style, Colour colour);

/// Columns that UTF-8 text takes on a terminal; every character of this tool's texts takes one.
inline std::size_t width_of(const std::string& text) { return observer::columns_of(text); }

}  // namespace tarn::tool
