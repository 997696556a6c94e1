// The file of a trace: a head, blocks, and an end.
//
//   head    8 bytes "tarntrc1", then a block of kind kDescription: JSON, what was recorded
//   blocks  of kind kEvents: events of one thread in the order of that thread, compressed by zstd
//   end     a block of kind kSummary: JSON, what the recorded run came to; a file without it is truncated
//
// Every block begins with a BlockHead. Its checksum covers the rest of the head and the payload: a file
// that was cut or changed is found out at the block it concerns, and the blocks before that one stay good.
// Numbers are little-endian.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace/event_source.h"

namespace tarn::trace {

inline constexpr char kFileMagic[8] = {'t', 'a', 'r', 'n', 't', 'r', 'c', '1'};
inline constexpr std::uint32_t kBlockMagic = 0x6b6c4274;  // "tBlk"
inline constexpr std::uint32_t kMostEventsOfBlock = 1 << 16;
inline constexpr std::uint32_t kMostTextBytes = 1 << 20;
inline constexpr std::uint32_t kMostThreads = 1 << 16;

enum class BlockKind : std::uint32_t { kDescription = 1, kEvents, kSummary };

struct BlockHead {
  std::uint32_t magic = kBlockMagic;
  std::uint32_t checksum = 0;  // CRC-32 of what follows: head, then payload
  BlockKind kind = BlockKind::kEvents;
  std::uint32_t thread = 0;
  std::uint64_t first_order = 0;  // the whole order number of the first event
  std::uint32_t event_count = 0;
  std::uint32_t stored_bytes = 0;  // of the payload, compressed
};
static_assert(sizeof(BlockHead) == 32);

/// What was recorded. Figures that are not known are 0.
struct Description {
  std::string program;  // the path of the executable
  std::vector<std::string> command;
  std::string start_time;  // UTC, ISO 8601
  std::string allocator;   // that served the recorded run
  std::uint64_t page_bytes = 4096;
};

/// What the recorded run came to. Figures that are not known are 0.
struct Summary {
  std::uint64_t event_count = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t peak_anonymous_bytes = 0;  // RssAnon
  std::uint64_t other_bytes = 0;           // of the anonymous memory at its peak, what is not the allocator's
};

/// One line that names the file and the byte.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string text_of(const Description& description);
std::string text_of(const Summary& summary);
/// \throws std::exception for text that is not what text_of() writes
Description parse_description(const std::string& text);
Summary parse_summary(const std::string& text);

/// \pre head.checksum is left out by the sum
std::uint32_t checksum_of(const BlockHead& head, const void* payload);

}  // namespace tarn::trace
