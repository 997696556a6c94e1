// What a run of the program was asked for, and the JSON lines it answers with: one per row.
//
// group   rows that belong together; the figures of a table are means over one.
// row     one figure. Its name is made of what tells it from the others: cold, series, block size, threads.
//         A cold row measures first touch: it runs only when it is named, in a process of its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tarn::bench {

enum class Temperature { kWarm, kCold };

/// A short text that stands on the stack: the program allocates nothing that the allocator under test would
/// see.
template <std::size_t Capacity>
struct FixedText {
  char text[Capacity];
};
using SeriesName = FixedText<40>;
using RowName = FixedText<96>;
/// Further JSON members of a row, each beginning with a comma.
using Extra = FixedText<4096>;

[[gnu::format(printf, 1, 2)]] SeriesName series(const char* format, ...);
[[gnu::format(printf, 1, 2)]] Extra extra_fields(const char* format, ...);

struct Row {
  SeriesName series = {};  // empty: the group has one
  std::size_t bytes = 0;   // of a block, or the largest; 0: blocks of many sizes
  unsigned threads = 1;
  Temperature temperature = Temperature::kWarm;
  const char* metric = "ns";  // the JSON member that is compared; smaller is better

  RowName name() const;
};

/// What a row's figure rests on.
struct Effort {
  std::uint64_t operations;
  std::uint64_t rounds = 1;  // of the workload, by the thread that made fewest
};

/// Sizes or numbers of threads that rows run at.
class Axis {
 public:
  static constexpr std::size_t kMaxValues = 32;

  void add(std::size_t value) {
    if (count_ < kMaxValues) values_[count_++] = value;
  }
  bool contains(std::size_t value) const;
  bool is_empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  std::size_t operator[](std::size_t index) const { return values_[index]; }
  const std::size_t* begin() const { return values_.data(); }
  const std::size_t* end() const { return values_.data() + count_; }

 private:
  std::array<std::size_t, kMaxValues> values_{};
  std::size_t count_ = 0;
};

enum class Purpose { kRun, kList };
/// A quick run leaves out all but a few values of each axis.
enum class Extent { kWhole, kQuick };

struct Request {
  Purpose purpose = Purpose::kRun;
  Extent extent = Extent::kWhole;
  const char* group = nullptr;  // nullptr: all
  const char* row = nullptr;    // nullptr: all warm rows
  Axis threads;                 // empty: the workloads' own
  Axis sizes;                   // the same
  double scale = 1;
};

class Session {
 public:
  explicit Session(const Request& request) : request_(request) {}

  /// Rows of the group follow. \returns false when none of them is asked for
  [[gnu::format(printf, 2, 3)]] bool enter(const char* group_format, ...);

  /// The block sizes to run at: those asked for, else the workload's own.
  Axis sizes(std::initializer_list<std::size_t> own) const;
  /// The same where only the workload's own sizes exist.
  Axis sizes_among(std::initializer_list<std::size_t> own) const;
  /// Values of an axis that nobody can choose.
  Axis values(std::initializer_list<std::size_t> own) const { return thinned(axis_of(own)); }
  /// The numbers of threads to run at: those asked for, else the workload's own.
  Axis threads(std::initializer_list<std::size_t> own) const { return threads(axis_of(own)); }
  Axis threads(const Axis& own) const;

  /// True when the row must run now; its peak of resident memory counts from here. When listing, prints the
  /// row.
  bool wants(const Row& row);

  /// Prints the row's line, if the row was wanted. \pre what the row allocated has been freed: what is still
  /// resident is told too
  void report(const Row& row, double value, const Effort& effort, const Extra& extra = {});

  /// Time a row may take, `seconds` being its share at scale 1.
  double budget_ns(double seconds) const { return seconds * request_.scale * 1e9; }
  /// A count of things at the run's scale, at least one.
  std::uint64_t scaled(std::uint64_t count) const;

 private:
  static Axis axis_of(std::initializer_list<std::size_t> values);
  Axis thinned(const Axis& axis) const;
  bool is_chosen(const Row& row) const;

  const Request& request_;
  FixedText<40> group_ = {};
};

}  // namespace tarn::bench
