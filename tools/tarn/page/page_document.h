// What a page says, as a document of parts: sections of figures and tables, which the script in page/plots/
// draws. Every page of measurements is made this way, the game server's too: its Python writes the document
// itself. docs/command.md says what the names of fields do not.
//
// A contender is named by its place in `contenders`, and has one colour on the whole page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/results.h"

namespace tarn::tool {

enum class Side : std::uint8_t { kOurs, kOthers };
enum class AxisScale : std::uint8_t { kLinear, kLogarithmic };

struct PageContender {
  std::string name;
  Side side = Side::kOthers;
  std::string group;  // of buttons that hide or show them
  std::string what;
};

/// What its figures are, and which way is better. The unit is "ns", "s", "bytes", "count", "×", "%" or any
/// word.
struct FigureAxis {
  std::string title;
  std::string unit;
  AxisScale scale = AxisScale::kLinear;
};

/// A figure; its quartiles, or 0 for none.
struct Spread {
  double value;
  double low = 0;
  double high = 0;
};

struct Bars {
  struct Bar {
    std::size_t contender;
    Spread length;
    std::string note = {};
  };
  std::string title;
  std::string note;
  FigureAxis axis;
  std::vector<Bar> bars;
  std::optional<double> reference = {};  // a line across all bars
};

/// Figures over sizes, threads or percentiles: the places of the axis are its labels.
struct Lines {
  struct Point {
    std::size_t place;
    Spread height;
  };
  struct Series {
    std::size_t contender;
    std::vector<Point> points;
  };
  std::string title;
  std::string note;
  std::string x_title;
  std::vector<std::string> labels;
  FigureAxis y;
  std::vector<Series> series;
};

/// Figures over time.
struct Curves {
  struct Series {
    std::optional<std::size_t> contender;
    std::string name;  // of one that is no contender's
    std::vector<std::pair<double, double>> points;
  };
  std::string title;
  std::string note;
  FigureAxis x;
  FigureAxis y;
  std::vector<Series> series;
};

struct Scatter {
  struct Point {
    std::size_t contender;
    double x;
    double y;
    bool is_partial;  // over fewer rows than others: drawn hollow
  };
  std::string title;
  std::string note;
  FigureAxis x;
  FigureAxis y;
  std::vector<Point> points;
};

enum class Mark : std::uint8_t { kPlain, kBest, kEqual, kNone, kWords };

struct PageCell {
  std::string text;
  Mark mark = Mark::kPlain;
  std::string small = {};                     // beside the text
  std::string note = {};                      // shown to who points at the cell
  std::string link = {};                      // a section's id
  std::optional<double> tint = {};            // 0 to 1
  std::optional<std::size_t> contender = {};  // a head's, for its column
};

struct PageTable {
  struct Row {
    std::vector<PageCell> cells;                // a single one is a heading of the rows below
    std::optional<std::size_t> contender = {};  // that has the row
  };
  std::string title;
  std::string note;
  std::string fold;  // what to click for the table to be shown; empty: it is shown
  std::vector<PageCell> heads;
  std::vector<Row> rows;
};

Json to_json(const Bars& bars);
Json to_json(const Lines& lines);
Json to_json(const Curves& curves);
Json to_json(const Scatter& scatter);
Json to_json(const PageTable& table);

enum class Level : std::uint8_t { kMain = 2, kSub = 3 };

struct Section {
  std::string title;
  Level level = Level::kMain;
  std::string id = {};
  std::vector<std::string> notes = {};
  Json parts = Json::array();
};

struct PageFailure {
  std::string name;
  std::string what;
  std::vector<std::string> lines;
};

struct PageDocument {
  std::string title;
  std::string sentence;  // the result
  std::vector<std::string> warnings = {};
  std::vector<std::string> about = {};  // machine, rounds, date
  std::string command = {};
  std::vector<std::string> reading = {};  // what marks mean
  std::vector<PageContender> contenders = {};
  std::vector<PageFailure> failures = {};
  std::vector<Section> sections = {};
};

/// The whole page as text.
std::string page_text(const PageDocument& document);

/// "a processor, 2 cores, Linux 6, glibc 2.36, ..." of what to_json(Machine) gives.
std::string words_on_machine(const Json& machine);

}  // namespace tarn::tool
