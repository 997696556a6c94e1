// The document as JSON. What is empty is left out, and figures have four digits: pages are long enough.
#include "page/page_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "page/page_text.h"
#include "plots_assets.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

double rounded(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

Json part_of(const char* kind, const std::string& title, const std::string& note) {
  Json json = {{"kind", kind}, {"title", title}};
  if (!note.empty()) json["note"] = note;
  return json;
}

Json to_json(const FigureAxis& axis) {
  return {{"title", axis.title}, {"unit", axis.unit}, {"log", axis.scale == AxisScale::kLogarithmic}};
}

Json to_json(const Lines::Point& point) {
  Json json = {point.place, rounded(point.height.value)};
  if (point.height.high > point.height.low) {
    json.push_back(rounded(point.height.low));
    json.push_back(rounded(point.height.high));
  }
  return json;
}

Json to_json(const PageCell& cell) {
  static constexpr const char* kMarks[] = {"", "best", "equal", "none", "words"};
  Json json = {{"text", cell.text}};
  if (cell.mark != Mark::kPlain) json["mark"] = kMarks[static_cast<std::size_t>(cell.mark)];
  if (!cell.small.empty()) json["small"] = cell.small;
  if (!cell.note.empty()) json["note"] = cell.note;
  if (!cell.link.empty()) json["link"] = cell.link;
  if (cell.tint) json["tint"] = rounded(*cell.tint);
  if (cell.contender) json["c"] = *cell.contender;
  if (json.size() == 1) return cell.text;
  return json;
}

Json to_json(const PageTable::Row& row) {
  if (row.cells.size() == 1) return {{"head", row.cells.front().text}};
  Json cells = Json::array();
  for (const PageCell& cell : row.cells) cells.push_back(to_json(cell));
  if (!row.contender) return cells;
  return {{"c", *row.contender}, {"cells", std::move(cells)}};
}

Json to_json(const Section& section) {
  Json json = {{"title", section.title}, {"level", static_cast<int>(section.level)}};
  if (!section.id.empty()) json["id"] = section.id;
  json["notes"] = section.notes;
  json["parts"] = section.parts;
  return json;
}

Json contenders_of(const PageDocument& document) {
  Json json = Json::array();
  for (const PageContender& one : document.contenders)
    json.push_back(
        {{"name", one.name}, {"ours", one.side == Side::kOurs}, {"group", one.group}, {"what", one.what}});
  return json;
}

Json failures_of(const PageDocument& document) {
  Json json = Json::array();
  for (const PageFailure& one : document.failures)
    json.push_back({{"name", one.name}, {"what", one.what}, {"lines", one.lines}});
  return json;
}

}  // namespace

Json to_json(const Bars& bars) {
  Json json = part_of("bars", bars.title, bars.note);
  json["axis"] = to_json(bars.axis);
  if (bars.reference) json["reference"] = *bars.reference;
  json["bars"] = Json::array();
  for (const Bars::Bar& bar : bars.bars) {
    Json one = {{"c", bar.contender}, {"value", rounded(bar.length.value)}};
    if (bar.length.high > bar.length.low) {
      one["low"] = rounded(bar.length.low);
      one["high"] = rounded(bar.length.high);
    }
    if (!bar.note.empty()) one["note"] = bar.note;
    json["bars"].push_back(std::move(one));
  }
  return json;
}

Json to_json(const Lines& lines) {
  Json json = part_of("lines", lines.title, lines.note);
  json["x"] = {{"title", lines.x_title}, {"labels", lines.labels}};
  json["y"] = to_json(lines.y);
  json["series"] = Json::array();
  for (const Lines::Series& series : lines.series) {
    Json points = Json::array();
    for (const Lines::Point& point : series.points) points.push_back(to_json(point));
    json["series"].push_back({{"c", series.contender}, {"points", std::move(points)}});
  }
  return json;
}

Json to_json(const Curves& curves) {
  Json json = part_of("curves", curves.title, curves.note);
  json["x"] = to_json(curves.x);
  json["y"] = to_json(curves.y);
  json["series"] = Json::array();
  for (const Curves::Series& series : curves.series) {
    Json one = series.contender ? Json{{"c", *series.contender}} : Json{{"name", series.name}};
    one["points"] = Json::array();
    for (const auto& [x, y] : series.points) one["points"].push_back({rounded(x), rounded(y)});
    json["series"].push_back(std::move(one));
  }
  return json;
}

Json to_json(const Scatter& scatter) {
  Json json = part_of("scatter", scatter.title, scatter.note);
  json["x"] = to_json(scatter.x);
  json["y"] = to_json(scatter.y);
  json["points"] = Json::array();
  for (const Scatter::Point& point : scatter.points)
    json["points"].push_back({{"c", point.contender},
                              {"x", rounded(point.x)},
                              {"y", rounded(point.y)},
                              {"part", point.is_partial}});
  return json;
}

Json to_json(const PageTable& table) {
  Json json = part_of("table", table.title, table.note);
  if (!table.fold.empty()) json["fold"] = table.fold;
  json["columns"] = Json::array();
  for (const PageCell& head : table.heads) json["columns"].push_back(to_json(head));
  json["rows"] = Json::array();
  for (const PageTable::Row& row : table.rows) json["rows"].push_back(to_json(row));
  return json;
}

std::string page_text(const PageDocument& document) {
  Json sections = Json::array();
  for (const Section& section : document.sections) sections.push_back(to_json(section));
  return page_text({kPlotsFrame, kPlotsStyle, kPlotsScript}, {{"title", document.title},
                                                              {"sentence", document.sentence},
                                                              {"warnings", document.warnings},
                                                              {"about", document.about},
                                                              {"command", document.command},
                                                              {"reading", document.reading},
                                                              {"contenders", contenders_of(document)},
                                                              {"failures", failures_of(document)},
                                                              {"sections", std::move(sections)}});
}

std::string words_on_machine(const Json& machine) {
  const int cores = machine.value("cores", 0);
  return fmt::format(
      "{}, {} core{}, {} of memory, {}, glibc {}, transparent huge pages: {}, load at start {:.1f}",
      machine.value("cpu", "an unknown processor"), cores, cores == 1 ? "" : "s",
      format_bytes(machine.value("memory_bytes", 0.0)), machine.value("kernel", "Linux"),
      machine.value("glibc", "unknown"), machine.value("transparent_huge_pages", "unknown"),
      machine.value("load_at_start", 0.0));
}

}  // namespace tarn::tool
