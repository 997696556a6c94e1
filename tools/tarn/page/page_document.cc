// The members of a page.
#include "page/page_document.h"

#include <fmt/format.h>

#include <cstdlib>

#include "observer/text/json_text.h"
#include "plots_assets.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

double to_four_digits(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

Json part_of(const char* kind, const std::string& title, const std::string& note) {
  Json json = {{"kind", kind}, {"title", title}};
  if (!note.empty()) json["note"] = note;
  return json;
}

/// With axes, and an empty list of what they are for.
Json plot_of(const char* kind, const std::string& title, const std::string& note, Json x, Json y,
             const char* list) {
  Json json = part_of(kind, title, note);
  json["x"] = std::move(x);
  json["y"] = std::move(y);
  json[list] = Json::array();
  return json;
}

bool has_quartiles(const Summary& figure) { return figure.upper_quartile > figure.lower_quartile; }

}  // namespace

Json page_axis(const std::string& title, const std::string& unit, AxisScale scale) {
  return {{"title", title}, {"unit", unit}, {"log", scale == AxisScale::kLogarithmic}};
}

Json bars_part(const std::string& title, const std::string& note, Json axis,
               std::optional<double> reference) {
  Json json = part_of("bars", title, note);
  json["axis"] = std::move(axis);
  if (reference) json["reference"] = *reference;
  json["bars"] = Json::array();
  return json;
}

void add_bar(Json& bars, std::size_t contender, const Summary& length, const std::string& note) {
  Json bar = {{"c", contender}, {"value", to_four_digits(length.median)}};
  if (has_quartiles(length)) {
    bar["low"] = to_four_digits(length.lower_quartile);
    bar["high"] = to_four_digits(length.upper_quartile);
  }
  if (!note.empty()) bar["note"] = note;
  bars["bars"].push_back(std::move(bar));
}

Json lines_part(const std::string& title, const std::string& x_title, Json labels, Json y) {
  return plot_of("lines", title, {}, {{"title", x_title}, {"labels", std::move(labels)}}, std::move(y),
                 "series");
}

Json line_point(std::size_t place, const Summary& height) {
  Json json = {place, to_four_digits(height.median)};
  if (has_quartiles(height)) {
    json.push_back(to_four_digits(height.lower_quartile));
    json.push_back(to_four_digits(height.upper_quartile));
  }
  return json;
}

Json curves_part(const std::string& title, const std::string& note, Json x, Json y) {
  return plot_of("curves", title, note, std::move(x), std::move(y), "series");
}

Json curve_point(double x, double y) { return {to_four_digits(x), to_four_digits(y)}; }

void add_series(Json& part, Json whose, Json points) {
  if (points.empty()) return;
  whose["points"] = std::move(points);
  part["series"].push_back(std::move(whose));
}

Json scatter_part(const std::string& title, const std::string& note, Json x, Json y) {
  return plot_of("scatter", title, note, std::move(x), std::move(y), "points");
}

void add_point(Json& scatter, std::size_t contender, double x, double y, Dot dot) {
  scatter["points"].push_back(
      {{"c", contender}, {"x", to_four_digits(x)}, {"y", to_four_digits(y)}, {"part", dot == Dot::kHollow}});
}

Json table_part(const std::string& title, const std::string& note, Json columns, const std::string& fold) {
  Json json = part_of("table", title, note);
  if (!fold.empty()) json["fold"] = fold;
  json["columns"] = std::move(columns);
  json["rows"] = Json::array();
  return json;
}

Json page_cell(const std::string& text, Mark mark, const Json& more) {
  static constexpr const char* kMarks[] = {"", "best", "equal", "none"};
  Json cell = {{"text", text}};
  if (mark != Mark::kPlain) cell["mark"] = kMarks[static_cast<std::size_t>(mark)];
  for (const auto& [name, value] : more.items())
    if (value != "") cell[name] = value.is_number_float() ? Json(to_four_digits(value.get<double>())) : value;
  return cell.size() == 1 ? cell["text"] : cell;
}

Json no_figure_cell() { return page_cell("–", Mark::kNone); }

Json contender_row(std::size_t contender, Json cells) {
  return {{"c", contender}, {"cells", std::move(cells)}};
}

Json page_section(const std::string& title, Level level, const std::string& id, Json notes) {
  Json json = {{"title", title}, {"level", static_cast<int>(level)}};
  if (!id.empty()) json["id"] = id;
  json["notes"] = std::move(notes);
  json["parts"] = Json::array();
  return json;
}

Json page_contender(const std::string& name, Side side, const std::string& group, const std::string& what) {
  return {{"name", name}, {"ours", side == Side::kOurs}, {"group", group}, {"what", what}};
}

Json page_failure(const std::string& name, const std::string& what, const std::vector<std::string>& lines) {
  return {{"name", name}, {"what", what}, {"lines", lines}};
}

Json empty_page(const std::string& title) {
  const Json none = Json::array();
  return {{"title", title},  {"sentence", ""},     {"warnings", none}, {"about", none},   {"command", ""},
          {"reading", none}, {"contenders", none}, {"failures", none}, {"sections", none}};
}

std::string page_text(const Json& page) {
  return observer::page_text({kPlotsFrame, kPlotsStyle, kPlotsScript}, page);
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
