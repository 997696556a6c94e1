// Traces made by hand.
#pragma once
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "trace/script.h"
#include "trace/trace_file.h"
#include "trace/trace_writer.h"

namespace tarn::test {

inline trace::Event event(trace::Operation operation, std::uint64_t address, std::uint64_t size = 0,
                          std::uint64_t order = 0) {
  return trace::packed({.operation = operation, .address = address, .size = size, .order = order});
}

/// Events in memory. Chunks are short, so that each trace has many.
class MadeTrace final : public trace::EventSource {
 public:
  static constexpr std::size_t kChunk = 7;

  std::uint32_t thread_count() const override { return static_cast<std::uint32_t>(threads.size()); }
  std::size_t chunk_count(std::uint32_t thread) const override {
    return (threads[thread].events.size() + kChunk - 1) / kChunk;
  }
  trace::ThreadEvents chunk(std::uint32_t thread, std::size_t index) override {
    const trace::ThreadEvents& all = threads[thread];
    trace::ThreadEvents part;
    for (std::size_t i = index * kChunk; i < std::min(all.events.size(), (index + 1) * kChunk); ++i) {
      part.events.push_back(all.events[i]);
      part.orders.push_back(all.orders[i]);
    }
    return part;
  }

  std::vector<trace::ThreadEvents> threads;
};

/// A trace of threads with these events.
inline MadeTrace made_trace(const std::vector<std::vector<trace::Event>>& threads) {
  MadeTrace made;
  for (const auto& events : threads) {
    trace::ThreadEvents& thread = made.threads.emplace_back();
    for (const trace::Event& one : events) {
      thread.events.push_back(one);
      thread.orders.push_back(one.low_order());
    }
  }
  return made;
}

/// A script as the replaying program reads it.
struct ReadScript : trace::Script {
  std::vector<trace::ScriptThread> threads;
  std::vector<std::vector<trace::Step>> steps;  // of each thread
};

inline ReadScript script_of(trace::EventSource&& source, trace::Threads threads,
                            const trace::Window& window = {}) {
  FILE* const file = tmpfile();
  ReadScript read{trace::write_script(source, threads, window, fileno(file)), {}, {}};
  trace::ScriptHead head;
  const auto take = [&](void* into, std::size_t bytes) { return fread(into, 1, bytes, file) == bytes; };
  rewind(file);
  if (!take(&head, sizeof head)) return read;
  read.threads.resize(head.thread_count);
  if (!take(read.threads.data(), read.threads.size() * sizeof(trace::ScriptThread))) return read;
  const long start = ftell(file);
  for (const trace::ScriptThread& thread : read.threads) {
    fseek(file, start + static_cast<long>(thread.first_step * sizeof(trace::Step)), SEEK_SET);
    std::vector<trace::Step>& steps = read.steps.emplace_back(thread.step_count);
    if (!take(steps.data(), steps.size() * sizeof(trace::Step))) steps.clear();
  }
  fclose(file);
  return read;
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
