// A trace as it lies in its file: what was recorded, and where the events of each thread are. They are read a
// block at a time, as often as they are asked for: a trace of hours needs no more memory than one of seconds.
//
// The file is not trusted: each count is bounded before memory is taken for it, each block has its checksum,
// and each event must be one that a program can have made. All of that is looked at once when the file is
// opened, and again when a block is read.
#pragma once
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "trace/event_source.h"
#include "trace/trace_format.h"

namespace tarn::trace {

/// What to do with a file that is good only at its beginning.
enum class Damage : std::uint8_t { kRefuse, kUseWhatIsWhole };

struct ReadLimits {
  std::uint64_t most_events = std::uint64_t{1} << 36;
};

class TraceFile final : public EventSource {
 public:
  /// \throws TraceError: one line that names the file, the byte and what is wrong there
  TraceFile(const std::string& path, Damage damage, const ReadLimits& limits = {});
  /// The same from a stream; `name` stands in errors.
  TraceFile(std::unique_ptr<std::istream> file, const std::string& name, Damage damage,
            const ReadLimits& limits = {});

  const Description& description() const { return description_; }
  /// Of a truncated file: what its good blocks hold.
  const Summary& summary() const { return summary_; }
  std::uint64_t event_count() const { return event_count_; }
  /// Of a file that is read in part: what is wrong with the rest; else empty.
  const std::string& damage() const { return damage_; }

  std::uint32_t thread_count() const override { return static_cast<std::uint32_t>(threads_.size()); }
  std::size_t chunk_count(std::uint32_t thread) const override { return threads_[thread].size(); }
  ThreadEvents chunk(std::uint32_t thread, std::size_t index) override;

 private:
  struct Place {
    std::uint64_t start;         // of the block, in the file
    std::uint64_t order_before;  // the thread's last
  };

  void read_all(Damage damage);
  void read_head();
  bool read_block();
  BlockHead read_stored();
  void note_events(const BlockHead& head);
  ThreadEvents events_of(const BlockHead& head, std::uint64_t order_before) const;
  std::string plain_events(const BlockHead& head) const;
  void require(bool is_good, const char* what) const;
  bool read(void* target, std::size_t bytes);

  std::unique_ptr<std::istream> file_;
  const std::string name_;
  const ReadLimits limits_;
  Description description_;
  Summary summary_;
  std::uint64_t event_count_ = 0;
  std::string damage_;
  std::vector<std::vector<Place>> threads_;
  std::vector<std::uint64_t> last_orders_;  // of each thread
  std::uint64_t position_ = 0, block_start_ = 0;
  std::string payload_;
};

}  // namespace tarn::trace
