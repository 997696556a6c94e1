// Any bytes as a trace. The first byte says whether the checksums of all blocks are put right first, so that
// what is behind them is reached too. Whatever they are, a script comes of them or an error of one line.
#include <cstring>
#include <sstream>
#include <string>

#include "fuzz/program.h"
#include "trace/script.h"

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

void require_steps_in_bounds(const trace::Script& script) {
  std::uint64_t count = 0;
  for (const trace::ScriptThread& thread : script.threads) count += thread.step_count;
  check(count == script.steps.size(), "every step is of one thread");
  for (const trace::Step& step : script.steps)
    check(step.action() >= trace::Action::kPace || step.slot < script.head.slot_count, "every slot is there");
}

void read(const std::string& bytes) {
  std::istringstream file(bytes);
  try {
    const trace::Trace read =
        trace::read_trace(file, "input", trace::Damage::kUseWhatIsWhole, {.most_events = 1 << 20});
    for (const trace::Threads threads : {trace::Threads::kOne, trace::Threads::kAsRecorded})
      require_steps_in_bounds(trace::script_of(read, threads));
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
