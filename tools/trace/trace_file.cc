// Reading block by block.
#include "trace/trace_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace tarn::trace {
namespace {

std::uint32_t most_stored_bytes(const BlockHead& head) {
  return head.kind == BlockKind::kEvents
             ? static_cast<std::uint32_t>(ZSTD_compressBound(kMostEventsOfBlock * sizeof(Event)))
             : kMostTextBytes;
}

std::unique_ptr<std::istream> opened(const std::string& path) {
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) throw TraceError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return file;
}

}  // namespace

TraceFile::TraceFile(const std::string& path, Damage damage, const ReadLimits& limits)
    : TraceFile(opened(path), path, damage, limits) {}

TraceFile::TraceFile(std::unique_ptr<std::istream> file, const std::string& name, Damage damage,
                     const ReadLimits& limits)
    : file_(std::move(file)), name_(name), limits_(limits) {
  read_all(damage);
}

void TraceFile::require(bool is_good, const char* what) const {
  if (!is_good) throw TraceError(fmt::format("{}: byte {}: {}", name_, block_start_, what));
}

bool TraceFile::read(void* target, std::size_t bytes) {
  file_->read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
  position_ += static_cast<std::uint64_t>(file_->gcount());
  return file_->gcount() == static_cast<std::streamsize>(bytes);
}

std::string TraceFile::plain_events(const BlockHead& head) const {
  std::string columns(head.event_count * sizeof(Event), '\0');
  const std::size_t size = ZSTD_decompress(columns.data(), columns.size(), payload_.data(), payload_.size());
  require(ZSTD_isError(size) == 0 && size == columns.size(), "the block does not hold the events it names");
  return columns;
}

ThreadEvents TraceFile::events_of(const BlockHead& head, std::uint64_t order_before) const {
  const std::string columns = plain_events(head);
  const char* const places = columns.data();
  const char* const extents = columns.data() + head.event_count * sizeof(Event::place);
  ThreadEvents thread;
  thread.events.reserve(head.event_count);
  thread.orders.reserve(head.event_count);
  std::uint64_t order = head.first_order;
  std::optional<std::uint64_t> before;
  for (std::size_t i = 0; i < head.event_count; ++i) {
    Event event;
    std::memcpy(&event.place, places + i * sizeof(event.place), sizeof(event.place));
    std::memcpy(&event.extent, extents + i * sizeof(event.extent), sizeof(event.extent));
    require(is_sound(event), "an event that no program makes");
    if (before) order += (event.low_order() - *before) & kOrderMask;
    before = event.low_order();
    order_before = order = std::max(order, order_before);
    thread.events.push_back(event);
    thread.orders.push_back(order);
  }
  return thread;
}

void TraceFile::note_events(const BlockHead& head) {
  require(head.event_count >= 1 && head.event_count <= kMostEventsOfBlock, "a wrong number of events");
  require(head.event_count <= limits_.most_events - event_count_,
          "more events than this machine is trusted to hold");
  require(head.thread < kMostThreads, "the number of the thread is too large");
  if (head.thread >= threads_.size()) {
    threads_.resize(head.thread + 1);
    last_orders_.resize(head.thread + 1);
  }
  const ThreadEvents events = events_of(head, last_orders_[head.thread]);
  for (const Event& event : events.events)
    if (event.operation() == Operation::kLost) summary_.lost_events += event.size();
  threads_[head.thread].push_back({block_start_, last_orders_[head.thread]});
  last_orders_[head.thread] = events.orders.back();
  event_count_ += head.event_count;
}

void TraceFile::read_head() {
  char magic[sizeof(kFileMagic)];
  require(read(magic, sizeof(magic)) && std::memcmp(magic, kFileMagic, sizeof(magic)) == 0,
          "this is no trace, or one of another version");
  require(read_block(), "the trace ends in its head");
}

/// \post the payload is that of the block
BlockHead TraceFile::read_stored() {
  block_start_ = position_;
  BlockHead head;
  require(read(&head, sizeof(head)), "the trace is truncated here");
  require(head.magic == kBlockMagic, "no block begins here: the trace is damaged");
  require(head.stored_bytes <= most_stored_bytes(head), "the size of the block is too large");
  payload_.resize(head.stored_bytes);
  require(read(payload_.data(), payload_.size()), "the trace is truncated in this block");
  require(checksum_of(head, payload_.data()) == head.checksum, "the checksum of the block is wrong");
  return head;
}

/// \returns false at the summary, which is the last block
bool TraceFile::read_block() {
  const bool is_first = position_ == sizeof(kFileMagic);
  const BlockHead head = read_stored();
  require(head.kind >= BlockKind::kDescription && head.kind <= BlockKind::kSummary,
          "a block of an unknown kind");
  require(is_first == (head.kind == BlockKind::kDescription), "a block that does not belong here");
  try {
    if (head.kind == BlockKind::kDescription) description_ = parse_description(payload_);
    if (head.kind == BlockKind::kSummary) summary_ = parse_summary(payload_);
  } catch (const std::exception&) {
    require(false, "text that is not what it should be");
  }
  if (head.kind == BlockKind::kEvents) note_events(head);
  return head.kind != BlockKind::kSummary;
}

void TraceFile::read_all(Damage damage) {
  read_head();
  try {
    while (read_block()) {
    }
    require(summary_.event_count == event_count_, "blocks are missing");
    require(file_->peek() == std::istream::traits_type::eof(), "something follows the end");
  } catch (const TraceError& error) {
    if (damage == Damage::kRefuse) throw;
    damage_ = error.what();
  }
}

ThreadEvents TraceFile::chunk(std::uint32_t thread, std::size_t index) {
  const Place place = threads_[thread][index];
  file_->clear();
  file_->seekg(static_cast<std::streamoff>(place.start));
  position_ = block_start_ = place.start;
  require(!file_->fail(), "the trace cannot be read a second time: it is no file");
  const BlockHead head = read_stored();
  require(head.kind == BlockKind::kEvents && head.event_count >= 1 && head.event_count <= kMostEventsOfBlock,
          "the trace has changed meanwhile");
  return events_of(head, place.order_before);
}

}  // namespace tarn::trace
