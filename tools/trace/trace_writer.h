// Writes a trace. Every block is written as a whole, so that a program or a disk that fails leaves a file
// that is good up to its last block.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "trace/trace_format.h"

namespace tarn::trace {

class TraceWriter {
 public:
  /// Makes the file. \throws TraceError, as all of these: one line with the reason, "no space" for one
  TraceWriter(const std::string& path, const Description& description);
  /// Takes a descriptor over, of an empty file at `path`; negative: errno says why there is none.
  /// \param spend is called before bytes are written; what it throws comes from append().
  TraceWriter(std::string path, int descriptor, const Description& description,
              std::function<void(std::uint64_t)> spend = {});
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Events of one thread that follow those written of it before, in any number.
  /// \pre `first_order` is the whole order number of the first one
  void append(std::uint32_t thread, std::uint64_t first_order, std::span<const Event> events);
  /// Ends the file; nothing can be appended then. The number of events is filled in here.
  void finish(Summary summary);

  std::uint64_t event_count() const { return event_count_; }
  std::uint64_t written_bytes() const { return written_bytes_; }

 private:
  void write_block(BlockHead head, std::string_view payload);
  void write_all(const void* bytes, std::size_t count);

  std::string path_;
  std::function<void(std::uint64_t)> spend_;
  int descriptor_ = -1;
  std::uint64_t event_count_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace tarn::trace
