// Reading block by block.
#include "trace/trace_reader.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace tarn::trace {
namespace {

class Reader {
 public:
  Reader(std::istream& file, const std::string& name, const ReadLimits& limits)
      : file_(file), name_(name), limits_(limits) {}

  Trace whole(Damage damage);

 private:
  void read_head();
  bool read_block();
  void take_events(const BlockHead& head);
  void append(ThreadEvents& thread, const BlockHead& head, const std::string& columns);
  std::string plain_events(const BlockHead& head);
  ThreadEvents& thread_of(const BlockHead& head);
  void require(bool is_good, const char* what) const {
    if (!is_good) throw TraceError(fmt::format("{}: byte {}: {}", name_, block_start_, what));
  }
  bool read(void* target, std::size_t bytes);

  std::istream& file_;
  const std::string& name_;
  const ReadLimits& limits_;
  Trace trace_;
  std::uint64_t position_ = 0;
  std::uint64_t block_start_ = 0;
  std::string payload_;
};

bool Reader::read(void* target, std::size_t bytes) {
  file_.read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
  position_ += static_cast<std::uint64_t>(file_.gcount());
  return file_.gcount() == static_cast<std::streamsize>(bytes);
}

std::uint32_t most_stored_bytes(const BlockHead& head) {
  return head.kind == BlockKind::kEvents
             ? static_cast<std::uint32_t>(ZSTD_compressBound(kMostEventsOfBlock * sizeof(Event)))
             : kMostTextBytes;
}

std::string Reader::plain_events(const BlockHead& head) {
  std::string columns(head.event_count * sizeof(Event), '\0');
  const std::size_t size = ZSTD_decompress(columns.data(), columns.size(), payload_.data(), payload_.size());
  require(ZSTD_isError(size) == 0 && size == columns.size(), "the block does not hold the events it names");
  return columns;
}

ThreadEvents& Reader::thread_of(const BlockHead& head) {
  require(head.thread < kMostThreads, "the number of the thread is too large");
  if (head.thread >= trace_.threads.size()) trace_.threads.resize(head.thread + 1);
  return trace_.threads[head.thread];
}

void Reader::append(ThreadEvents& thread, const BlockHead& head, const std::string& columns) {
  const char* const places = columns.data();
  const char* const extents = columns.data() + head.event_count * sizeof(Event::place);
  std::uint64_t order = head.first_order;
  std::optional<std::uint64_t> before;
  for (std::size_t i = 0; i < head.event_count; ++i) {
    Event event;
    std::memcpy(&event.place, places + i * sizeof(event.place), sizeof(event.place));
    std::memcpy(&event.extent, extents + i * sizeof(event.extent), sizeof(event.extent));
    require(is_sound(event), "an event that no program makes");
    if (before) order += (event.low_order() - *before) & kOrderMask;
    before = event.low_order();
    if (!thread.orders.empty()) order = std::max(order, thread.orders.back());
    thread.events.push_back(event);
    thread.orders.push_back(order);
    if (event.operation() == Operation::kLost) trace_.summary.lost_events += event.size();
  }
}

void Reader::take_events(const BlockHead& head) {
  require(head.event_count >= 1 && head.event_count <= kMostEventsOfBlock, "a wrong number of events");
  require(head.event_count <= limits_.most_events - trace_.event_count,
          "more events than this machine is trusted to hold");
  append(thread_of(head), head, plain_events(head));
  trace_.event_count += head.event_count;
}

void Reader::read_head() {
  char magic[sizeof(kFileMagic)];
  require(read(magic, sizeof(magic)) && std::memcmp(magic, kFileMagic, sizeof(magic)) == 0,
          "this is no trace, or one of another version");
  require(read_block(), "the trace ends in its head");
}

/// \returns false at the summary, which is the last block
bool Reader::read_block() {
  block_start_ = position_;
  const bool is_first = block_start_ == sizeof(kFileMagic);
  BlockHead head;
  require(read(&head, sizeof(head)), "the trace is truncated here");
  require(head.magic == kBlockMagic, "no block begins here: the trace is damaged");
  require(head.stored_bytes <= most_stored_bytes(head), "the size of the block is too large");
  payload_.resize(head.stored_bytes);
  require(read(payload_.data(), payload_.size()), "the trace is truncated in this block");
  require(checksum_of(head, payload_.data()) == head.checksum, "the checksum of the block is wrong");
  require(head.kind >= BlockKind::kDescription && head.kind <= BlockKind::kSummary,
          "a block of an unknown kind");
  require(is_first == (head.kind == BlockKind::kDescription), "a block that does not belong here");
  try {
    if (head.kind == BlockKind::kDescription) trace_.description = parse_description(payload_);
    if (head.kind == BlockKind::kSummary) trace_.summary = parse_summary(payload_);
  } catch (const std::exception&) {
    require(false, "text that is not what it should be");
  }
  if (head.kind == BlockKind::kEvents) take_events(head);
  return head.kind != BlockKind::kSummary;
}

Trace Reader::whole(Damage damage) {
  read_head();
  try {
    while (read_block()) {
    }
    require(trace_.summary.event_count == trace_.event_count, "blocks are missing");
    require(file_.peek() == std::istream::traits_type::eof(), "something follows the end");
  } catch (const TraceError& error) {
    if (damage == Damage::kRefuse) throw;
    trace_.damage = error.what();
  }
  return std::move(trace_);
}

}  // namespace

Trace read_trace(std::istream& file, const std::string& name, Damage damage, const ReadLimits& limits) {
  return Reader(file, name, limits).whole(damage);
}

Trace read_trace(const std::string& path, Damage damage, const ReadLimits& limits) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return read_trace(file, path, damage, limits);
}

}  // namespace tarn::trace
