// Traces made by hand.
#pragma once
#include <string>
#include <vector>

#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

namespace tarn::test {

inline trace::Event event(trace::Operation operation, std::uint64_t address, std::uint64_t size = 0,
                          std::uint64_t order = 0) {
  return trace::packed({.operation = operation, .address = address, .size = size, .order = order});
}

/// A trace of threads with these events, as the reader gives it.
inline trace::Trace made_trace(const std::vector<std::vector<trace::Event>>& threads) {
  trace::Trace made;
  for (const auto& events : threads) {
    trace::ThreadEvents& thread = made.threads.emplace_back();
    for (const trace::Event& one : events) {
      thread.events.push_back(one);
      thread.orders.push_back(one.low_order());
    }
    made.event_count += events.size();
  }
  return made;
}

/// A program of two threads: one allocates, the other frees, both have blocks of their own.
inline void write_example(const std::string& path, std::size_t rounds) {
  using trace::Operation;
  trace::TraceWriter writer(path, {.program = "/usr/bin/example",
                                   .command = {"example", "--with", "two threads"},
                                   .start_time = "2026-01-01T00:00:00Z",
                                   .allocator = "tarn"});
  std::vector<trace::Event> maker, ender;
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::uint64_t handed = 0x100000 + i * 64, own = 0x7000'0000 + i % 512 * 4096;
    const std::uint64_t size = 16 + i * 37 % 3000;
    if (i >= 512) maker.push_back(event(Operation::kFree, own, 0, i));
    maker.push_back(event(i % 3 == 0 ? Operation::kAllocateZeroed : Operation::kAllocate, own, size, i));
    maker.push_back(event(Operation::kAllocate, handed, 96, i));
    if (i < 100) continue;
    ender.push_back(event(Operation::kResizeFrom, handed - 6400, 0, i));
    ender.push_back(event(Operation::kResizeTo, handed - 6400 + (std::uint64_t{1} << 40), 200, i));
    if (i % 2 == 0) ender.push_back(event(Operation::kFree, handed - 6400 + (std::uint64_t{1} << 40), 0, i));
  }
  writer.append(0, 0, maker);
  writer.append(1, 100, ender);
  writer.finish({.event_count = 0,
                 .lost_events = 0,
                 .peak_rss_bytes = 9 << 20,
                 .peak_anonymous_bytes = 8 << 20,
                 .other_bytes = 1 << 20});
}

}  // namespace tarn::test
