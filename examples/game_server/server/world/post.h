// Where the game's packets go: a batch per IO thread, filled during a tick and delivered at its end.
//
// Threads: the logic thread.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "../messages.h"
#include "player.h"

namespace game {

template <typename Memory>
class Post {
 public:
  using Buffer = typename Memory::Buffer;
  using Batch = typename Memory::template Vector<Outbound<Memory>>;

  Post(Memory& memory, std::size_t io_threads) : memory_(memory), batches_(io_threads) {}

  /// \returns bytes for a packet, begun by `writer`.
  template <typename Type>
  Buffer begin(Type type, std::size_t payload_bytes, PacketWriter& writer) {
    Buffer packet = memory_.make_buffer(kHeaderBytes + payload_bytes);
    writer = PacketWriter(packet.data(), type, payload_bytes);
    return packet;
  }
  void send(std::uint8_t io_thread, SessionKey to, OutboundKind kind, Buffer packet) {
    Line& line = batches_[io_thread];
    if (line.is_behind && (kind == OutboundKind::kBroadcast || kind == OutboundKind::kSnapshot)) {
      ++dropped_;
      return;
    }
    line.batch.push_back({to, kind, std::move(packet)});
  }
  void send(const Player<Memory>& to, OutboundKind kind, Buffer packet) {
    send(to.io_thread, to.session, kind, std::move(packet));
  }
  /// A packet of values.
  template <typename... Values>
  void tell(const Player<Memory>& to, Reply type, Values... values) {
    tell(to.io_thread, to.session, OutboundKind::kAnswer, type, values...);
  }
  template <typename... Values>
  void tell(std::uint8_t io_thread, SessionKey to, OutboundKind kind, Reply type, Values... values) {
    PacketWriter writer(nullptr);
    Buffer packet = begin(type, (sizeof(Values) + ... + 0), writer);
    (writer.put(values), ...);
    send(io_thread, to, kind, std::move(packet));
  }

  /// A thread that is behind gets what its clients are owed, and no broadcasts.
  void set_behind(std::size_t io_thread, bool is_behind) { batches_[io_thread].is_behind = is_behind; }
  bool is_behind(std::size_t io_thread) const { return batches_[io_thread].is_behind; }
  Batch& batch(std::size_t io_thread) { return batches_[io_thread].batch; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Line {
    Batch batch;
    bool is_behind = false;
  };
  Memory& memory_;
  std::vector<Line> batches_;
  std::uint64_t dropped_ = 0;
};

}  // namespace game
