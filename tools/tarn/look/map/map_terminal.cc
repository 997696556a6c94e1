// Cells to characters and colours.
#include "look/map/map_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "look/map/map_colours.h"
#include "observer/pages/pinners.h"
#include "observer/text/words.h"
#include "report/table.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using observer::bytes_in_words;
using observer::CellGroup;
using observer::PageCell;
using observer::PageMap;
using observer::PinnedBy;
using observer::Pinner;

struct Rgb {
  int red, green, blue;
};

/// By MapColour::hue; told apart on a dark and on a light ground.
constexpr std::array<Rgb, kHues> kPalette = {Rgb{66, 165, 245},  Rgb{255, 167, 38},  Rgb{102, 187, 106},
                                             Rgb{236, 88, 130},  Rgb{171, 120, 214}, Rgb{38, 198, 218},
                                             Rgb{212, 190, 60},  Rgb{239, 83, 80},   Rgb{141, 160, 90},
                                             Rgb{121, 134, 203}, Rgb{188, 143, 110}, Rgb{144, 164, 174}};
constexpr Rgb kFreeColour{128, 128, 128};
constexpr std::size_t kLabelWidth = 16;
constexpr std::size_t kLeastCellsInRow = 8;
/// Runs of given-back pages that are longer say nothing and are left out.
constexpr std::size_t kLongRun = 64;

/// One character of the map: a page, or several that follow each other.
struct DrawnCell {
  observer::Address start = 0;
  std::uint32_t group = 0;
  std::uint64_t bytes = 0, live_bytes = 0, resident_bytes = 0, idle_bytes = 0;

  double fill() const {
    return bytes == 0 ? 0 : static_cast<double>(live_bytes) / static_cast<double>(bytes);
  }
  bool is_given_back() const { return resident_bytes == 0; }
  bool is_mostly_idle() const { return 2 * idle_bytes >= resident_bytes; }
};

bool is_free_group(const PageMap& map, std::uint32_t group) {
  return map.groups[group].kind == CellGroup::Kind::kFree;
}

/// The cells but for long runs of what went back.
std::vector<PageCell> cells_to_draw(const PageMap& map) {
  std::vector<PageCell> drawn;
  const auto is_gone = [&map](const PageCell& cell) {
    return is_free_group(map, cell.group) && cell.is_given_back();
  };
  for (auto at = map.cells.begin(); at != map.cells.end();) {
    const auto end = is_gone(*at) ? std::find_if_not(at, map.cells.end(), is_gone) : at + 1;
    if (static_cast<std::size_t>(end - at) < kLongRun) drawn.insert(drawn.end(), at, end);
    at = end;
  }
  return drawn;
}

DrawnCell joined(const std::vector<PageCell>& cells, std::size_t first, std::size_t count) {
  DrawnCell drawn{cells[first].start, cells[first].group, 0, 0, 0, 0};
  std::uint64_t most = 0;
  for (std::size_t i = first; i < std::min(first + count, cells.size()); ++i) {
    const PageCell& cell = cells[i];
    if (cell.resident_bytes > most) most = cell.resident_bytes, drawn.group = cell.group;
    drawn.bytes += cell.bytes;
    drawn.live_bytes += cell.live_bytes;
    drawn.resident_bytes += cell.resident_bytes;
    drawn.idle_bytes += cell.idle_bytes();
  }
  return drawn;
}

std::size_t pages_in_cell(std::size_t cells, std::size_t room) {
  return room >= cells ? 1 : std::bit_ceil((cells + room - 1) / room);
}

/// \param share how much of the colour is left
Rgb dimmed(Rgb colour, double share) {
  const auto part = [share](int value) { return static_cast<int>(value * share); };
  return {part(colour.red), part(colour.green), part(colour.blue)};
}

std::string coloured(const std::string& text, Rgb colour, ColourDepth depth) {
  if (depth == ColourDepth::kNone) return text;
  if (depth == ColourDepth::k24Bit)
    return fmt::format("\033[38;2;{};{};{}m{}\033[0m", colour.red, colour.green, colour.blue, text);
  const auto step = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return fmt::format("\033[38;5;{}m{}\033[0m",
                     16 + 36 * step(colour.red) + 6 * step(colour.green) + step(colour.blue), text);
}

/// \param colour of the cell's group: in MapColours::colours, or kNone for free pages
std::string plain_glyph(std::uint32_t colour, const DrawnCell& cell) {
  if (cell.is_given_back()) return ".";
  if (colour == observer::kNone) return ":";
  return std::string(1, static_cast<char>((cell.fill() >= 0.5 ? 'A' : 'a') + colour));
}

std::string glyph_of(const MapColours& colours, const DrawnCell& cell, ColourDepth depth) {
  const std::uint32_t place = colours.of_group[cell.group];
  if (depth == ColourDepth::kNone) return plain_glyph(place, cell);
  const bool is_free = place == observer::kNone;
  const Rgb colour = is_free ? kFreeColour : kPalette[colours.colours[place].hue];
  constexpr double kLeastShare = 0.4;
  if (cell.is_given_back()) return coloured("·", dimmed(colour, kLeastShare), depth);
  const double share = kLeastShare + (1 - kLeastShare) * std::min(1.0, cell.fill());
  if (is_free) return coloured("▒", colour, depth);
  return coloured(cell.is_mostly_idle() ? "▒" : "█", dimmed(colour, share), depth);
}

std::string lines_of_map(const MapColours& colours, const std::vector<PageCell>& cells, std::size_t pages,
                         std::size_t in_row, ColourDepth depth) {
  std::string text;
  for (std::size_t i = 0, column = 0; i < cells.size(); i += pages, column = (column + 1) % in_row) {
    const DrawnCell cell = joined(cells, i, pages);
    if (column == 0)
      text += fmt::format("{}{:<{}}", i == 0 ? "" : "\n", fmt::format("{:#x}", cell.start), kLabelWidth);
    text += glyph_of(colours, cell, depth);
  }
  return text + "\n";
}

std::string signs_in_words(ColourDepth depth) {
  return depth == ColourDepth::kNone
             ? "capital letter: at least half live, small: less; ':' free pages kept, '.' given back"
             : "brighter: more of it live; ▒ most of it free but resident, · given back";
}

/// Items side by side as long as the line has room.
std::string flowed(const std::vector<std::pair<std::string, std::size_t>>& items, std::size_t width) {
  std::string text;
  std::size_t used = 0;
  for (const auto& [item, item_width] : items) {
    const bool fits = used == 0 || used + 2 + item_width <= width;
    if (used != 0) text += fits ? "  " : "\n";
    used = (fits && used != 0 ? used + 2 : 0) + item_width;
    text += item;
  }
  return text + "\n";
}

std::string legend_of(const MapColours& colours, const MapLook& look) {
  std::vector<std::pair<std::string, std::size_t>> items;
  char letter = 'A';
  for (const MapColour& one : colours.colours) {
    const std::string key = look.depth == ColourDepth::kNone ? std::string(1, letter++)
                                                             : coloured("█", kPalette[one.hue], look.depth);
    const double bytes = static_cast<double>(one.bytes), live = static_cast<double>(one.live_bytes);
    const std::string words = fmt::format(" {} {} ({})", one.name, bytes_in_words(one.bytes),
                                          observer::percent_in_words(live, bytes));
    items.emplace_back(key + words, 1 + width_of(words));
  }
  return flowed(items, look.width) + signs_in_words(look.depth) + "\n";
}

std::string scale_in_words(const PageMap& map, std::size_t drawn_cells, std::size_t pages) {
  std::string text = fmt::format("{} a cell", bytes_in_words(pages * map.page_bytes));
  if (pages != 1) text += fmt::format(": reduced, {} pages each (--width and -o FILE.html show more)", pages);
  if (const std::size_t left_out = map.cells.size() - drawn_cells; left_out != 0)
    text +=
        fmt::format("; {} given back in long runs are left out", bytes_in_words(left_out * map.page_bytes));
  return text;
}

void add_pinners(Table& table, const char* kind, PinnedBy by, const observer::Snapshot& snapshot,
                 const observer::Residency* residency, std::size_t most) {
  const std::vector<Pinner> pinners = pinners_by(by, snapshot, residency);
  for (std::size_t i = 0; i < pinners.size() && (most == 0 || i < most); ++i) {
    const Pinner& one = pinners[i];
    const std::string blocks = one.blocks == 0 ? "–" : format_count(one.blocks);
    table.add_row({i == 0 ? kind : "", name_of(one, snapshot), bytes_in_words(one.pinned_bytes),
                   format_count(one.survivors), blocks, bytes_in_words(one.survivor_bytes),
                   format_count(one.spans)});
  }
}

}  // namespace

std::string map_text(const PageMap& map, const observer::Snapshot& snapshot, const MapLook& look) {
  const std::vector<PageCell> cells = cells_to_draw(map);
  const std::size_t in_row =
      std::max(kLeastCellsInRow, look.width > kLabelWidth ? look.width - kLabelWidth : 0);
  const std::size_t pages = pages_in_cell(cells.size(), in_row * look.most_rows);
  std::string text =
      fmt::format("{} {}: {} resident in tarn's pages, {} live, {} free but resident\n", snapshot.program,
                  snapshot.pid, bytes_in_words(map.resident_bytes()),
                  bytes_in_words(snapshot.totals.live_bytes), bytes_in_words(map.idle_bytes()));
  text += scale_in_words(map, cells.size(), pages) + "\n\n";
  if (cells.empty()) return text + "No pages.\n";
  const MapColours colours = colours_of(map);
  return text + lines_of_map(colours, cells, pages, in_row, look.depth) + "\n" + legend_of(colours, look);
}

std::string pinners_text(const observer::Snapshot& snapshot, const observer::Residency* residency,
                         std::size_t most, Colour colour) {
  constexpr Alignment kLeft = Alignment::kLeft;
  Table table({{"who pins what", kLeft},
               {"", kLeft},
               "free but resident",
               "survivors",
               "of blocks",
               "survivors'",
               "spans"});
  add_pinners(table, "size class", PinnedBy::kClass, snapshot, residency, most);
  add_pinners(table, "pool", PinnedBy::kPool, snapshot, residency, most);
  add_pinners(table, "owner", PinnedBy::kOwner, snapshot, residency, most);
  return table.is_empty() ? "No partly used span keeps free memory.\n" : table.render(colour);
}

}  // namespace tarn::tool
