// Compression and writing of blocks.
#include "trace/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tarn::trace {
namespace {

constexpr int kCompressionLevel = 3;

[[noreturn]] void fail(const std::string& path) {
  throw TraceError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

/// \why addresses and sizes compress far better apart than in turn
std::string in_columns(std::span<const Event> events) {
  std::string columns(events.size() * sizeof(Event), '\0');
  char* place = columns.data();
  char* extent = columns.data() + events.size() * sizeof(Event::place);
  for (const Event& event : events) {
    std::memcpy(std::exchange(place, place + sizeof(event.place)), &event.place, sizeof(event.place));
    std::memcpy(std::exchange(extent, extent + sizeof(event.extent)), &event.extent, sizeof(event.extent));
  }
  return columns;
}

std::string compressed(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0) throw TraceError(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  packed.resize(size);
  return packed;
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path, const Description& description)
    : TraceWriter(path, open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), description) {}

TraceWriter::TraceWriter(std::string path, int descriptor, const Description& description,
                         std::function<void(std::uint64_t)> spend)
    : path_(std::move(path)), spend_(std::move(spend)), descriptor_(descriptor) {
  if (descriptor_ < 0) fail(path_);
  write_all(kFileMagic, sizeof(kFileMagic));
  write_block({.kind = BlockKind::kDescription}, text_of(description));
}

TraceWriter::~TraceWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TraceWriter::append(std::uint32_t thread, std::uint64_t first_order, std::span<const Event> events) {
  while (!events.empty()) {
    const auto now = events.first(std::min<std::size_t>(events.size(), kMostEventsOfBlock));
    const std::string packed = compressed(in_columns(now));
    if (spend_) spend_(packed.size());
    write_block({.kind = BlockKind::kEvents,
                 .thread = thread,
                 .first_order = first_order,
                 .event_count = static_cast<std::uint32_t>(now.size())},
                packed);
    event_count_ += now.size();
    events = events.subspan(now.size());
    if (!events.empty()) first_order += (events.front().low_order() - now.front().low_order()) & kOrderMask;
  }
}

void TraceWriter::finish(Summary summary) {
  summary.event_count = event_count_;
  write_block({.kind = BlockKind::kSummary}, text_of(summary));
  if (close(std::exchange(descriptor_, -1)) != 0) fail(path_);
}

void TraceWriter::write_block(BlockHead head, std::string_view payload) {
  head.stored_bytes = static_cast<std::uint32_t>(payload.size());
  head.checksum = checksum_of(head, payload.data());
  std::string block(sizeof(head), '\0');
  std::memcpy(block.data(), &head, sizeof(head));
  block += payload;
  write_all(block.data(), block.size());
}

void TraceWriter::write_all(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = write(descriptor_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_);
    next += written;
    count -= static_cast<std::size_t>(written);
    written_bytes_ += static_cast<std::uint64_t>(written);
  }
}

}  // namespace tarn::trace
