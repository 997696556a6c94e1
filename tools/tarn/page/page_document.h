// What a page says, as a JSON document of parts: sections of figures and tables, which the script in
// page/plots/ draws. docs/command.md says what the names of members do not. What is empty is left out, and
// figures have four digits: pages are long enough.
//
// A contender is named by its place in `contenders`, and has one colour on the whole page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/results.h"

namespace tarn::tool {

enum class AxisScale : std::uint8_t { kLinear, kLogarithmic };

/// What figures are, and which way is better. The unit is "ns", "s", "bytes", "count", "×", "%" or any word.
Json page_axis(const std::string& title, const std::string& unit, AxisScale scale = AxisScale::kLinear);

/// A bar for each add_bar(). \param reference a line across all bars
Json bars_part(const std::string& title, const std::string& note, Json axis,
               std::optional<double> reference = {});
void add_bar(Json& bars, std::size_t contender, const Summary& length, const std::string& note = {});

/// Figures over sizes, threads or percentiles: the places of the axis are its labels.
Json lines_part(const std::string& title, const std::string& x_title, Json labels, Json y);
/// \param place of a label
Json line_point(std::size_t place, const Summary& height);

/// Figures over time.
Json curves_part(const std::string& title, const std::string& note, Json x, Json y);
Json curve_point(double x, double y);

/// Adds to lines or curves what has points. \param whose {"c", a contender}, or {"name", a text} of no one's
void add_series(Json& part, Json whose, Json points);

Json scatter_part(const std::string& title, const std::string& note, Json x, Json y);
enum class Dot : std::uint8_t { kFull, kHollow };  // kHollow: over fewer rows than others
void add_point(Json& scatter, std::size_t contender, double x, double y, Dot dot);

/// \param fold what to click for the table to be shown; empty: it is shown
Json table_part(const std::string& title, const std::string& note, Json columns,
                const std::string& fold = {});
/// A text, or an object where there is more to say of it.
/// \param more "small" beside the text, "note" for who points at it, "link" to a section's id, "tint" from 0
/// to 1, "c" of the contender whose column it heads
Json page_cell(const std::string& text, Mark mark = Mark::kPlain, const Json& more = Json::object());
/// What stands where a contender has no figure.
Json no_figure_cell();
/// A row of a contender's; other rows are their cells alone, or {"head", a text} above rows.
Json contender_row(std::size_t contender, Json cells);

enum class Level : std::uint8_t { kMain = 2, kSub = 3 };
Json page_section(const std::string& title, Level level = Level::kMain, const std::string& id = {},
                  Json notes = Json::array());

enum class Side : std::uint8_t { kOurs, kOthers };
/// \param group of buttons that hide or show it
Json page_contender(const std::string& name, Side side, const std::string& group, const std::string& what);

Json page_failure(const std::string& name, const std::string& what, const std::vector<std::string>& lines);

/// A page that says nothing yet. Its "sentence" is the result, "about" tells the machine, rounds and date,
/// "reading" what marks mean.
Json empty_page(const std::string& title);

/// The whole page as text.
std::string page_text(const Json& page);

/// "a processor, 2 cores, Linux 6, glibc 2.36, ..." of what to_json(Machine) gives.
std::string words_on_machine(const Json& machine);

}  // namespace tarn::tool
