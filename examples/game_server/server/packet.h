// Packets in the server's memory: counted references, so that one broadcast lies in many send queues; and the
// queue of what waits to be sent to one session.
//
// Invariant of an Outbox: bytes() is the sum of its packets' sizes minus what was sent of the first.
// Threads: one, the server's.
#pragma once
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../protocol.h"
#include "memory_policy.h"

namespace game {

/// The bytes follow behind.
struct Packet {
  std::uint32_t reference_count;
  std::uint32_t size;

  char* data() { return reinterpret_cast<char*>(this + 1); }
};

/// Makes packets of any size and ends them with their last reference.
template <typename Memory>
class PacketStore {
 public:
  explicit PacketStore(Memory& memory) : source_(memory.packets()) {}

  /// \post the caller holds the one reference; the contents are for it to write.
  Packet* create(std::size_t size) {
    auto* const packet = static_cast<Packet*>(source_.allocate(sizeof(Packet) + size));
    ++request_count;
    ++live_count_;
    packet->reference_count = 1;
    packet->size = static_cast<std::uint32_t>(size);
    return packet;
  }
  template <typename Type>
  Packet* create(Type type, std::size_t payload_bytes, PacketWriter& writer) {
    Packet* const packet = create(kHeaderBytes + payload_bytes);
    writer = PacketWriter(packet->data(), type, payload_bytes);
    return packet;
  }
  void release(Packet* packet) noexcept {
    if (--packet->reference_count != 0) return;
    --live_count_;
    source_.deallocate(packet, sizeof(Packet) + packet->size);
  }
  std::size_t live_count() const { return live_count_; }

 private:
  typename Memory::Packets& source_;
  std::size_t live_count_ = 0;
};

struct OutboxNode {
  Packet* packet;
  OutboxNode* next;
};

/// What all outboxes take their nodes and packets from.
template <typename Memory>
struct OutboxStores {
  typename Memory::template Objects<OutboxNode> nodes;
  PacketStore<Memory> packets;

  explicit OutboxStores(Memory& memory) : nodes(memory, "send queue nodes"), packets(memory) {}
};

template <typename Memory>
class Outbox {
 public:
  explicit Outbox(OutboxStores<Memory>& stores) : stores_(stores) {}
  ~Outbox() { clear(); }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Takes a reference over.
  void push(Packet* packet, std::uint32_t tick) {
    OutboxNode* const node = stores_.nodes.create(OutboxNode{packet, nullptr});
    if (first_ == nullptr) {
      first_ = node;
      oldest_tick_ = tick;
    } else {
      last_->next = node;
    }
    last_ = node;
    bytes_ += packet->size;
  }
  void push_shared(Packet* packet, std::uint32_t tick) {
    push(packet, tick);
    ++packet->reference_count;
  }

  /// What comes next, without copying. \returns how many entries were filled.
  std::size_t gather(iovec* entries, std::size_t most) const {
    std::size_t count = 0;
    std::size_t skipped = sent_of_first_;
    for (const OutboxNode* node = first_; node != nullptr && count < most; node = node->next) {
      entries[count++] = {node->packet->data() + skipped, node->packet->size - skipped};
      skipped = 0;
    }
    return count;
  }

  /// \returns how many packets are now wholly sent.
  std::size_t remove_sent(std::size_t sent) {
    std::size_t finished = 0;
    bytes_ -= sent;
    sent += sent_of_first_;
    while (first_ != nullptr && sent >= first_->packet->size) {
      sent -= first_->packet->size;
      pop();
      ++finished;
    }
    sent_of_first_ = sent;
    return finished;
  }

  void clear() {
    while (first_ != nullptr) pop();
    bytes_ = sent_of_first_ = 0;
  }
  bool is_empty() const { return first_ == nullptr; }
  std::size_t bytes() const { return bytes_; }
  /// The tick in which the queue was last empty.
  std::uint32_t oldest_tick() const { return oldest_tick_; }

 private:
  void pop() {
    OutboxNode* const node = first_;
    first_ = node->next;
    stores_.packets.release(node->packet);
    stores_.nodes.destroy(node);
  }

  OutboxStores<Memory>& stores_;
  OutboxNode* first_ = nullptr;
  OutboxNode* last_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t sent_of_first_ = 0;
  std::uint32_t oldest_tick_ = 0;
};

}  // namespace game
