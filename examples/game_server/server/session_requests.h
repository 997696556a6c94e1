// What a session answers to each request. A handler returns whether the request was right; after a refusal
// nothing more of what the client sent is looked at.
#pragma once
#include "server.h"
#include "session.h"

namespace game {

template <typename Memory>
template <typename... Values>
void Session<Memory>::answer(Reply type, Values... values) {
  PacketWriter writer(nullptr);
  Packet* const packet = server_.outboxes().packets.create(type, (sizeof(Values) + ... + 0), writer);
  (writer.put(values), ...);
  player_.outbox.push(packet, server_.tick_number());
}

template <typename Memory>
bool Session<Memory>::malformed() {
  refuse(Refusal::kMalformed);
  return false;
}

template <typename Memory>
bool Session<Memory>::out_of_turn() {
  refuse(Refusal::kOutOfTurn);
  return false;
}

template <typename Memory>
bool Session<Memory>::handle(std::string_view packet) {
  const auto type = static_cast<Request>(packet[2]);
  PacketReader payload(packet.data() + kHeaderBytes, packet.size() - kHeaderBytes);
  if (packet[3] != 0) return malformed();
  if (type == Request::kHello) return greet(payload);
  if (type < Request::kHello || type > Request::kUse) return malformed();
  if (!has_greeted_) return out_of_turn();
  if (type == Request::kPing) return pong(payload);
  if (type == Request::kUse) return use(payload);
  if (type == Request::kJoin) return join(payload);
  return player_.room != nullptr ? handle_in_room(type, payload, packet) : out_of_turn();
}

template <typename Memory>
bool Session<Memory>::handle_in_room(Request type, PacketReader& payload, std::string_view packet) {
  if (type == Request::kShoot) return shoot(payload, packet);
  if (type == Request::kChat) return chat(payload, packet);
  if (type == Request::kLeave) {
    if (!payload.is_complete()) return malformed();
    leave_room();
    answer(Reply::kLeft);
    return true;
  }
  const auto sequence = payload.get<std::uint32_t>();
  if (type == Request::kLook) {
    const auto radius = payload.get<std::uint16_t>();
    if (!payload.is_complete()) return malformed();
    player_.outbox.push(player_.room->view(player_, sequence, radius), server_.tick_number());
    return true;
  }
  const auto x = payload.get<std::int16_t>();
  const auto y = payload.get<std::int16_t>();
  if (!payload.is_complete()) return malformed();
  player_.room->post(player_, type, packet);
  answer(Reply::kMoved, sequence, player_.entity->x + x, player_.entity->y + y);
  return true;
}

template <typename Memory>
bool Session<Memory>::greet(PacketReader& payload) {
  if (has_greeted_) return out_of_turn();
  const std::string_view name = payload.get_text(payload.get<std::uint8_t>());
  if (!payload.is_complete() || name.size() > kLongestName || !is_printable(name)) return malformed();
  player_.name.assign(name);
  player_.inventory.load(player_.id);
  has_greeted_ = true;
  answer(Reply::kWelcome, player_.id, server_.room_count(),
         static_cast<std::uint16_t>(server_.options().ticks_per_second));
  return true;
}

template <typename Memory>
bool Session<Memory>::join(PacketReader& payload) {
  Room<Memory>* const room = server_.find_room(payload.get<std::uint16_t>());
  if (!payload.is_complete() || room == nullptr) return malformed();
  leave_room();
  if (room->is_full()) {
    refuse(Refusal::kRoomFull);
    return false;
  }
  room->add(player_);
  answer(Reply::kJoined, room->number(), player_.entity->id,
         static_cast<std::uint16_t>(room->member_count()));
  return true;
}

template <typename Memory>
bool Session<Memory>::chat(PacketReader& payload, std::string_view packet) {
  const auto sequence = payload.get<std::uint32_t>();
  const std::string_view text = payload.get_text(payload.get<std::uint16_t>());
  if (!payload.is_complete() || text.size() > kLongestChat || !is_printable(text)) return malformed();
  server_.planted_faults().on_chat(text);
  player_.room->post(player_, Request::kChat, packet);
  answer(Reply::kChatTaken, sequence);
  return true;
}

template <typename Memory>
bool Session<Memory>::shoot(PacketReader& payload, std::string_view packet) {
  constexpr std::uint32_t kMostShots = 4;
  const auto sequence = payload.get<std::uint32_t>();
  payload.get<std::uint32_t>();  // its speed is the room's to read
  if (!payload.is_complete()) return malformed();
  Entity& shooter = *player_.entity;
  if (shooter.shots_in_flight < kMostShots) {
    ++shooter.shots_in_flight;
    player_.room->post(player_, Request::kShoot, packet);
  }
  answer(Reply::kShotTaken, sequence, static_cast<std::uint16_t>(shooter.shots_in_flight));
  return true;
}

template <typename Memory>
bool Session<Memory>::use(PacketReader& payload) {
  const auto sequence = payload.get<std::uint32_t>();
  const auto slot = payload.get<std::uint8_t>();
  if (!payload.is_complete()) return malformed();
  const auto used = player_.inventory.use(slot);
  answer(Reply::kUsed, sequence, used.kind, used.uses_left);
  return true;
}

template <typename Memory>
bool Session<Memory>::pong(PacketReader& payload) {
  const auto sequence = payload.get<std::uint32_t>();
  const std::string_view bytes = payload.rest();
  if (!payload.is_complete()) return malformed();
  PacketWriter writer(nullptr);
  Packet* const packet =
      server_.outboxes().packets.create(Reply::kPong, sizeof(sequence) + bytes.size(), writer);
  writer.put(sequence);
  writer.put_bytes(bytes.data(), bytes.size());
  player_.outbox.push(packet, server_.tick_number());
  return true;
}

}  // namespace game
