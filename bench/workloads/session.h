// What a run of the program was asked for, and the JSON lines it answers with: one per row.
//
// group   rows that belong together, from one source document; one function runs it.
// row     one figure. A cold row measures first touch: it runs only when it is named, in a process of its
// own.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::bench {

enum class Temperature { kWarm, kCold };

/// The name of a row, short enough to stand on the stack.
struct RowName {
  char text[48];
};
[[gnu::format(printf, 1, 2)]] RowName row_name(const char* format, ...);

/// Further JSON members of a row, each beginning with a comma.
struct Extra {
  char text[320];
};
[[gnu::format(printf, 1, 2)]] Extra extra_fields(const char* format, ...);

class Session {
 public:
  enum class Mode { kRun, kList };

  Session(Mode mode, const char* row, double scale) : mode_(mode), row_(row), scale_(scale) {}

  /// The group whose rows follow.
  void enter(const char* group) { group_ = group; }

  /// True when the row must run now; its peak of resident memory counts from here. When listing, prints the
  /// row.
  bool wants(const RowName& name, Temperature temperature = Temperature::kWarm);

  /// Prints the row's line, if the row was wanted.
  void report(const RowName& name, double ns, std::uint64_t operations,
              Temperature temperature = Temperature::kWarm, const Extra& extra = {});

  /// Time a row may take, `seconds` being its default.
  double budget_ns(double seconds) const { return seconds * scale_ * 1e9; }

 private:
  bool is_chosen(const RowName& name, Temperature temperature) const;

  Mode mode_;
  const char* row_;  // nullptr: all warm rows
  double scale_;
  const char* group_ = "";
};

}  // namespace tarn::bench
