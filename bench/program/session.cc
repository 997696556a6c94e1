// Rows in, JSON lines out.
#include "session.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "resident.h"

namespace tarn::bench {
namespace {

constexpr long long kKiB = 1024;

template <std::size_t Capacity>
FixedText<Capacity> formatted(const char* format, va_list arguments) {
  FixedText<Capacity> result;
  const int length = std::vsnprintf(result.text, Capacity, format, arguments);
  if (length < 0 || static_cast<std::size_t>(length) >= Capacity) {
    std::fprintf(stderr, "bench: a text of %d characters does not fit %zu\n", length, Capacity);
    std::_Exit(1);
  }
  return result;
}

}  // namespace

SeriesName series(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const SeriesName name = formatted<sizeof(SeriesName)>(format, arguments);
  va_end(arguments);
  return name;
}

Extra extra_fields(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const Extra extra = formatted<sizeof(Extra)>(format, arguments);
  va_end(arguments);
  return extra;
}

RowName Row::name() const {
  RowName name = {};
  std::size_t length = 0;
  const auto add = [&](const char* part) {
    length += static_cast<std::size_t>(
        std::snprintf(name.text + length, sizeof name.text - length, "%s%s", length == 0 ? "" : "/", part));
  };
  char number[32];
  if (temperature == Temperature::kCold) add("cold");
  if (series.text[0] != '\0') add(series.text);
  if (bytes != 0) {
    std::snprintf(number, sizeof number, "%zu", bytes);
    add(number);
  }
  if (threads != 1) {
    std::snprintf(number, sizeof number, "threads/%u", threads);
    add(number);
  }
  if (length == 0) add("all");
  return name;
}

bool Axis::contains(std::size_t value) const { return std::find(begin(), end(), value) != end(); }

Axis Session::axis_of(std::initializer_list<std::size_t> values) {
  Axis axis;
  for (const std::size_t value : values) axis.add(value);
  return axis;
}

/// The first and the middle one. \why the last is the most expensive
Axis Session::thinned(const Axis& axis) const {
  if (request_.extent == Extent::kWhole || axis.count() <= 2) return axis;
  Axis few;
  few.add(axis[0]);
  few.add(axis[axis.count() / 2]);
  return few;
}

Axis Session::sizes(std::initializer_list<std::size_t> own) const {
  return request_.sizes.is_empty() ? thinned(axis_of(own)) : request_.sizes;
}

Axis Session::sizes_among(std::initializer_list<std::size_t> own) const {
  if (request_.sizes.is_empty()) return thinned(axis_of(own));
  Axis known;
  for (const std::size_t bytes : own)
    if (request_.sizes.contains(bytes)) known.add(bytes);
  return known;
}

Axis Session::threads(const Axis& own) const {
  return request_.threads.is_empty() ? thinned(own) : request_.threads;
}

bool Session::enter(const char* group_format, ...) {
  va_list arguments;
  va_start(arguments, group_format);
  group_ = formatted<sizeof group_>(group_format, arguments);
  va_end(arguments);
  return request_.group == nullptr || std::strcmp(request_.group, group_.text) == 0;
}

bool Session::is_chosen(const Row& row) const {
  if (request_.group != nullptr && std::strcmp(request_.group, group_.text) != 0) return false;
  if (!request_.threads.is_empty() && !request_.threads.contains(row.threads)) return false;
  if (!request_.sizes.is_empty() && !request_.sizes.contains(row.bytes)) return false;
  if (request_.purpose == Purpose::kList) return true;
  if (request_.row == nullptr) return row.temperature == Temperature::kWarm;
  return std::strcmp(request_.row, row.name().text) == 0;
}

bool Session::wants(const Row& row) {
  if (!is_chosen(row)) return false;
  if (request_.purpose == Purpose::kList) {
    std::printf(
        "{\"group\":\"%s\",\"row\":\"%s\",\"series\":\"%s\",\"bytes\":%zu,\"threads\":%u,\"cold\":%s,"
        "\"metric\":\"%s\"}\n",
        group_.text, row.name().text, row.series.text, row.bytes, row.threads,
        row.temperature == Temperature::kCold ? "true" : "false", row.metric);
    return false;
  }
  reset_peak_resident();
  return true;
}

void Session::report(const Row& row, double value, const Effort& effort, const Extra& extra) {
  if (!is_chosen(row)) return;
  const Resident resident = resident_memory();
  std::printf(
      "{\"group\":\"%s\",\"row\":\"%s\",\"%s\":%.3f,\"operations\":%llu,\"rounds\":%llu,\"peak_rss_bytes\":%"
      "lld,"
      "\"rss_after_bytes\":%lld%s}\n",
      group_.text, row.name().text, row.metric, value, static_cast<unsigned long long>(effort.operations),
      static_cast<unsigned long long>(effort.rounds), resident.peak_kib * kKiB, resident.now_kib * kKiB,
      extra.text);
  std::fflush(stdout);
}

std::uint64_t Session::scaled(std::uint64_t count) const {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(count) * request_.scale));
}

}  // namespace tarn::bench
