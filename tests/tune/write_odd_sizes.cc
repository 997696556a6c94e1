// write_odd_sizes FILE: the trace of a program with most of its memory in blocks of one size, which lies
// badly between two size classes, as sqlite's pages do.
#include "trace/made_trace.h"

namespace {

constexpr std::size_t kBlocks = 3000, kShortLived = 20000;
constexpr std::uint64_t kOddSize = 4360;

}  // namespace

int main(int count, char** arguments) {
  using tarn::test::event;
  using tarn::trace::Operation;
  if (count != 2) return 2;
  tarn::trace::TraceWriter writer(arguments[1], {.program = "/usr/bin/odd",
                                                 .command = {"odd"},
                                                 .start_time = "2026-01-01T00:00:00Z",
                                                 .allocator = "glibc"});
  std::vector<tarn::trace::Event> events;
  for (std::size_t i = 0; i < kBlocks; ++i)
    events.push_back(event(Operation::kAllocate, 0x1000'0000 + i * 0x2000, kOddSize));
  for (std::size_t i = 0; i < kShortLived; ++i) {
    events.push_back(event(Operation::kAllocate, 0x10'0000, 16 + i % 200));
    events.push_back(event(Operation::kFree, 0x10'0000));
  }
  writer.append(0, 0, events);
  writer.finish({});
}
