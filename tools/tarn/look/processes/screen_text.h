// Short figures, and lines cut to a width: what screens are made of.
#pragma once
#include <cstdint>
#include <string>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "report/table.h"

namespace tarn::tool {

using observer::in_single_columns;
using observer::short_bytes;

std::string short_count(std::uint64_t count);  // "9,911", "123 k", "4.12 M"
std::string short_rate(double a_second);       // of events: "0", "0.5", "312"
std::string short_change(double a_second);     // of a level: "0", "+312", "-1.5"
std::string up_time(double seconds);           // "04:12:33", "3d 04:12"

/// A bar of `width` characters, of which a share from 0 to 1 is full.
std::string bar(double share, std::size_t width);

/// The first `width` columns.
Line cut(const Line& line, std::size_t width);
/// The line with blanks behind it, up to `width` columns.
Line filled(Line line, std::size_t width);

/// Without trailing blanks, and with a newline.
std::string text_of(const Line& line, Colour colour);

}  // namespace tarn::tool
