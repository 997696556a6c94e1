// Any bytes as a trace. The first byte says whether the checksums of all blocks are put right first, so that
// what is behind them is reached too. Whatever they are, a script comes of them or an error of one line.
#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "fuzz/program.h"
#include "trace/made_trace.h"

namespace tarn::fuzz {
namespace {

using trace::BlockHead;

void put_checksums_right(std::string& bytes) {
  for (std::size_t at = sizeof(trace::kFileMagic); bytes.size() - at >= sizeof(BlockHead);) {
    BlockHead head;
    std::memcpy(&head, bytes.data() + at, sizeof(head));
    const std::size_t payload = at + sizeof(head);
    if (head.stored_bytes > bytes.size() - payload) return;
    head.checksum = trace::checksum_of(head, bytes.data() + payload);
    std::memcpy(bytes.data() + at, &head, sizeof(head));
    at = payload + head.stored_bytes;
  }
}

void require_steps_in_bounds(const test::ReadScript& script) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < script.threads.size(); ++i) {
    check(script.threads[i].step_count == script.steps[i].size(), "every step of a thread is there");
    end = std::max(end, script.threads[i].first_step + script.threads[i].step_count);
    for (const trace::Step& step : script.steps[i])
      check(step.action() >= trace::Action::kPace || step.slot < script.head.slot_count,
            "every slot is there");
  }
  check(end <= script.head.step_count, "every thread has its part of the file");
}

void read(const std::string& bytes) {
  try {
    for (const trace::Threads threads : {trace::Threads::kOne, trace::Threads::kAsRecorded})
      require_steps_in_bounds(
          test::script_of(trace::TraceFile(std::make_unique<std::istringstream>(bytes), "input",
                                           trace::Damage::kUseWhatIsWhole, {.most_events = 1 << 20}),
                          threads));
  } catch (const trace::TraceError& error) {
    check(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
  }
}

void run(Program program) {
  const bool is_repaired = program.flag();
  std::string bytes(program.rest());
  if (is_repaired && bytes.size() > sizeof(trace::kFileMagic)) put_checksums_right(bytes);
  read(bytes);
}

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::run(tarn::fuzz::Program(data, size));
  return 0;
}
