// What the reader's end of a stream can show, and text for it.
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

bool is_terminal(int descriptor);

/// Colours only on a terminal, and not where NO_COLOR (no-color.org) or TERM=dumb says otherwise.
Colour colour_for(int descriptor);

enum class ColourDepth : std::uint8_t { kNone, k256, k24Bit };

/// What COLORTERM and TERM say, where colour_for() allows any.
ColourDepth colour_depth_for(int descriptor);

/// Of what stands in lines where there is no terminal: of text, of what fills a screen.
inline constexpr std::size_t kWidthOfText = 100, kWidthOfScreen = 80;

/// Characters in a line; `otherwise` where there is no terminal.
std::size_t columns_of(int descriptor, std::size_t otherwise);

}  // namespace tarn::tool
