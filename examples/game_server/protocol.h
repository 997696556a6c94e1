// The wire format that server and bots share: packets with their length in front, little-endian, nothing
// aligned.
//
//   0  u16  bytes of the whole packet, these two included: kHeaderBytes .. kLargestPacket
//   2  u8   type
//   3  u8   0, for later
//   4  payload, by type as the enums below say
//
// Whatever a client sends is checked here: PacketReader never reads beyond the payload and tells at the end
// whether it was exactly as long as its type asks for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace game {

inline constexpr std::size_t kHeaderBytes = 4;
inline constexpr std::size_t kLargestPacket = 4096;
inline constexpr std::size_t kLongestName = 24;
inline constexpr std::size_t kLongestChat = 512;
inline constexpr std::uint16_t kAnyRoom = 0xffff;

enum class Request : std::uint8_t {
  kHello = 1,  // u8 length, name
  kJoin,       // u16 room, or kAnyRoom
  kMove,       // u32 sequence, i16 dx, i16 dy
  kShoot,      // u32 sequence, i16 dx, i16 dy
  kChat,       // u32 sequence, u16 length, text
  kLook,       // u32 sequence, u16 radius
  kPing,       // u32 sequence, any bytes
  kLeave,      // nothing
  kUse,        // u32 sequence, u8 slot
  kAdmin,      // u8 Admin; over loopback only, before or after a greeting
};

/// What a client asks of the server itself.
enum class Admin : std::uint8_t {
  kFigures,  // answered by kFigures
  kBegin,    // the same, and ticks are counted anew from here on
  kReload,   // reads the configuration again; answered by kFigures
};

enum class Reply : std::uint8_t {
  kWelcome = 65,  // u32 player, u16 rooms, u16 ticks per second
  kJoined,        // u16 room, u32 entity, u16 members
  kMoved,         // u32 sequence, i32 x, i32 y
  kShotTaken,     // u32 sequence, u16 shots in flight
  kChatTaken,     // u32 sequence
  kView,          // u32 sequence, u16 count, EntityView...
  kPong,          // u32 sequence, the bytes of the ping
  kLeft,          // nothing
  kUsed,          // u32 sequence, u32 kind, u32 uses left
  // Not asked for; kJoined and kLeft too come unasked, when a match is over:
  kDenied,       // u32 sequence: the room has no memory left for what was asked
  kFigures,      // JSON
  kSnapshot,     // u32 tick, u16 count, EntityView...: what the player sees
  kSaid,         // u32 player, u8 length, name, u16 length, text
  kScores,       // u32 tick, u16 count, {u32 player, u32 hits}...
  kError = 127,  // u8 Refusal; the server closes the connection after it
};

/// Why a connection was closed; in kError's payload, and counted by the server under refusal_name().
enum class Refusal : std::uint8_t {
  kMalformed = 1,  // a length below the header's, an unknown type, a payload of the wrong length or content
  kOversized,      // a length above kLargestPacket
  kOutOfTurn,      // a request before kHello or outside of a room, or kAdmin from afar
  kRoomFull,
  kServerFull,
  kSlowReader,  // more waits to be sent than a session may hold
  kStalled,     // nothing moved for too long, in the middle of a packet or with answers waiting
};
inline constexpr std::size_t kRefusalCount = 7;

inline const char* refusal_name(std::size_t refusal) {
  static constexpr const char* kNames[] = {"none",      "malformed",   "oversized",   "out_of_turn",
                                           "room_full", "server_full", "slow_reader", "stalled"};
  return refusal <= kRefusalCount ? kNames[refusal] : "unknown";
}

/// An entity as clients see it.
struct EntityView {
  std::uint32_t id;
  std::int32_t x;
  std::int32_t y;
  std::uint16_t health;
  std::uint16_t kind;
};
inline constexpr std::size_t kEntityViewBytes = 16;
static_assert(sizeof(EntityView) == kEntityViewBytes);
inline constexpr std::size_t kMostViews = 200;  // in one packet

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values go onto the wire as they lie in memory");

/// Writes values one behind the other. \pre the memory is large enough.
class PacketWriter {
 public:
  explicit PacketWriter(void* start) : start_(static_cast<char*>(start)), next_(start_) {}

  /// Begins a packet of a known size.
  template <typename Type>
  PacketWriter(void* start, Type type, std::size_t payload_bytes) : PacketWriter(start) {
    put(static_cast<std::uint16_t>(kHeaderBytes + payload_bytes));
    put(static_cast<std::uint8_t>(type));
    put(std::uint8_t{0});
  }

  template <typename Value>
  void put(Value value) {
    std::memcpy(next_, &value, sizeof(value));
    next_ += sizeof(value);
  }
  void put_bytes(const void* bytes, std::size_t count) {
    std::memcpy(next_, bytes, count);
    next_ += count;
  }
  std::size_t size() const { return static_cast<std::size_t>(next_ - start_); }

 private:
  char* start_;
  char* next_;
};

/// Reads a payload. A read past the end gives zeros and makes is_complete() false for good.
class PacketReader {
 public:
  PacketReader(const void* payload, std::size_t bytes)
      : next_(static_cast<const char*>(payload)), left_(bytes) {}

  template <typename Value>
  Value get() {
    Value value{};
    if (const char* const bytes = take(sizeof(value))) std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  std::string_view get_text(std::size_t length) {
    const char* const bytes = take(length);
    return bytes != nullptr ? std::string_view(bytes, length) : std::string_view();
  }
  std::string_view rest() { return get_text(left_); }
  /// All was there and nothing is left over.
  bool is_complete() const { return !is_short_ && left_ == 0; }

 private:
  const char* take(std::size_t count) {
    if (count > left_) {
      is_short_ = true;
      left_ = 0;
      return nullptr;
    }
    const char* const bytes = next_;
    next_ += count;
    left_ -= count;
    return bytes;
  }

  const char* next_;
  std::size_t left_;
  bool is_short_ = false;
};

/// Whether the first bytes of a stream are a packet.
enum class Framing : std::uint8_t { kWhole, kPartial, kMalformed, kOversized };

struct Frame {
  Framing framing;
  std::size_t bytes;  // of the whole packet, once the length is there
};

inline Frame next_frame(const char* stream, std::size_t bytes) {
  if (bytes < sizeof(std::uint16_t)) return {Framing::kPartial, 0};
  std::uint16_t length;
  std::memcpy(&length, stream, sizeof(length));
  if (length < kHeaderBytes) return {Framing::kMalformed, length};
  if (length > kLargestPacket) return {Framing::kOversized, length};
  return {bytes < length ? Framing::kPartial : Framing::kWhole, length};
}

/// Text that a player may send to others: no control characters, not empty.
inline bool is_printable(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return !text.empty();
}

/// Whether a whole packet is one that a client may send: a known type, a payload as long as the type says,
/// text without control characters. Whether it comes at its turn is another question.
inline bool is_well_formed(std::string_view packet) {
  const auto type = static_cast<Request>(packet[2]);
  PacketReader payload(packet.data() + kHeaderBytes, packet.size() - kHeaderBytes);
  if (packet[3] != 0 || type < Request::kHello || type > Request::kAdmin) return false;
  if (type == Request::kHello) {
    const std::string_view name = payload.get_text(payload.get<std::uint8_t>());
    return payload.is_complete() && name.size() <= kLongestName && is_printable(name);
  }
  if (type == Request::kAdmin)
    return payload.get<std::uint8_t>() <= static_cast<std::uint8_t>(Admin::kReload) && payload.is_complete();
  if (type == Request::kLeave) return payload.is_complete();
  if (type == Request::kJoin) return payload.get<std::uint16_t>(), payload.is_complete();
  payload.get<std::uint32_t>();  // the sequence, of all others
  if (type == Request::kPing) return payload.rest(), payload.is_complete();
  if (type == Request::kUse) return payload.get<std::uint8_t>(), payload.is_complete();
  if (type == Request::kLook) return payload.get<std::uint16_t>(), payload.is_complete();
  if (type != Request::kChat) return payload.get<std::uint32_t>(), payload.is_complete();
  const std::string_view text = payload.get_text(payload.get<std::uint16_t>());
  return payload.is_complete() && text.size() <= kLongestChat && is_printable(text);
}

}  // namespace game
