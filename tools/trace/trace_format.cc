// JSON of the head and the end, and the checksum.
#include "trace/trace_format.h"

#include <zlib.h>

#include <nlohmann/json.hpp>

namespace tarn::trace {

using Json = nlohmann::ordered_json;

namespace {

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string text_of(const Description& description) {
  return one_line({{"program", description.program},
                   {"command", description.command},
                   {"start_time", description.start_time},
                   {"allocator", description.allocator},
                   {"page_bytes", description.page_bytes}});
}

std::string text_of(const Summary& summary) {
  return one_line({{"event_count", summary.event_count},
                   {"lost_events", summary.lost_events},
                   {"peak_rss_bytes", summary.peak_rss_bytes},
                   {"peak_anonymous_bytes", summary.peak_anonymous_bytes},
                   {"other_bytes", summary.other_bytes}});
}

Description parse_description(const std::string& text) {
  const Json json = Json::parse(text);
  return {.program = json.at("program"),
          .command = json.at("command"),
          .start_time = json.at("start_time"),
          .allocator = json.at("allocator"),
          .page_bytes = json.at("page_bytes")};
}

Summary parse_summary(const std::string& text) {
  const Json json = Json::parse(text);
  return {.event_count = json.at("event_count"),
          .lost_events = json.at("lost_events"),
          .peak_rss_bytes = json.at("peak_rss_bytes"),
          .peak_anonymous_bytes = json.at("peak_anonymous_bytes"),
          .other_bytes = json.at("other_bytes")};
}

std::uint32_t checksum_of(const BlockHead& head, const void* payload) {
  constexpr std::size_t kSkipped = offsetof(BlockHead, kind);
  const auto* const covered = reinterpret_cast<const Bytef*>(&head) + kSkipped;
  uLong sum = crc32(0, covered, static_cast<uInt>(sizeof(head) - kSkipped));
  sum = crc32(sum, static_cast<const Bytef*>(payload), head.stored_bytes);
  return static_cast<std::uint32_t>(sum);
}

}  // namespace tarn::trace
