// What the game answers to each request. The IO threads let only well-formed packets through; whether one
// comes at its turn is decided here. After a refusal nothing more of what the client sent is looked at.
#pragma once
#include <new>
#include <utility>

#include "world.h"

namespace game {

template <typename Memory>
void World<Memory>::handle(std::size_t io_thread, Batch& batch) {
  for (const Inbound<Memory>& message : batch) handle(io_thread, message);
  empty(batch);
}

template <typename Memory>
typename World<Memory>::Seat& World<Memory>::seat_of(std::size_t io_thread, SessionKey from) {
  std::vector<Seat>& seats = seats_[io_thread];
  if (from.slot >= seats.size()) seats.resize(from.slot + 1);
  Seat& seat = seats[from.slot];
  if (seat.generation != from.generation) seat = {.generation = from.generation};
  return seat;
}

template <typename Memory>
void World<Memory>::handle(std::size_t io_thread, const Inbound<Memory>& message) {
  Seat& seat = seat_of(io_thread, message.from);
  if (message.kind == InboundKind::kGone) {
    end_player(seat);
  } else if (seat.is_refused) {
    return;
  } else if (message.kind == InboundKind::kRefuse) {
    refuse(io_thread, message.from, seat, message.reason);
  } else {
    handle_request(io_thread, message.from, seat, message.packet);
  }
}

template <typename Memory>
void World<Memory>::handle_request(std::size_t io_thread, SessionKey from, Seat& seat, const Buffer& packet) {
  const auto type = static_cast<Request>(packet.data()[2]);
  const PacketReader payload(packet.data() + kHeaderBytes, packet.size() - kHeaderBytes);
  if (handle_anywhere(io_thread, from, seat, type, payload, packet)) return;
  Member& player = *seat.player;
  if (player.room == nullptr) return refuse(io_thread, from, seat, Refusal::kOutOfTurn);
  try {
    handle_in_room(player, type, payload);
  } catch (const std::bad_alloc&) {
    ++denied_;
    PacketReader sequence = payload;
    post_.tell(player, Reply::kDenied, sequence.get<std::uint32_t>());
  }
}

/// \returns false for what only a player in a room may ask for. \post seat.player is there then
template <typename Memory>
bool World<Memory>::handle_anywhere(std::size_t io_thread, SessionKey from, Seat& seat, Request type,
                                    PacketReader payload, const Buffer& packet) {
  if (type == Request::kAdmin) {
    admin_requests_.push_back(
        {static_cast<std::uint8_t>(io_thread), from, static_cast<Admin>(payload.get<std::uint8_t>())});
  } else if ((type == Request::kHello) == (seat.player != nullptr)) {
    refuse(io_thread, from, seat, Refusal::kOutOfTurn);
  } else if (type == Request::kHello) {
    greet(io_thread, from, seat, payload);
  } else if (type == Request::kJoin) {
    join(seat, payload);
  } else if (type == Request::kPing) {
    pong(*seat.player, packet);
  } else {
    return false;
  }
  return true;
}

template <typename Memory>
void World<Memory>::handle_in_room(Member& player, Request type, PacketReader payload) {
  if (type == Request::kLeave) return leave(player);
  const auto sequence = payload.get<std::uint32_t>();
  if (type == Request::kChat) return chat(player, sequence, payload);
  if (type == Request::kUse) {
    const auto used = player.character->use(payload.get<std::uint8_t>());
    return post_.tell(player, Reply::kUsed, sequence, used.kind, used.uses_left);
  }
  if (type == Request::kLook)
    return post_.send(player, OutboundKind::kAnswer,
                      player.room->view(player, sequence, payload.get<std::uint16_t>()));
  const auto x = payload.get<std::int16_t>();
  const auto y = payload.get<std::int16_t>();
  if (type == Request::kMove) {
    player.room->move(player, x, y);
    return post_.tell(player, Reply::kMoved, sequence, player.entity->x, player.entity->y);
  }
  player.room->shoot(player, x, y);
  post_.tell(player, Reply::kShotTaken, sequence, static_cast<std::uint16_t>(player.entity->shots_in_flight));
}

template <typename Memory>
void World<Memory>::greet(std::size_t io_thread, SessionKey from, Seat& seat, PacketReader payload) {
  const std::string_view name = payload.get_text(payload.get<std::uint8_t>());
  seat.player =
      players_.create(next_player_++, static_cast<std::uint8_t>(io_thread), from, name, thread_.texts());
  ++player_count_;
  post_.tell(*seat.player, Reply::kWelcome, seat.player->id, options_.rooms,
             static_cast<std::uint16_t>(options_.ticks_per_second));
}

template <typename Memory>
void World<Memory>::join(Seat& seat, PacketReader payload) {
  Member& player = *seat.player;
  const auto number = payload.get<std::uint16_t>();
  if (number != kAnyRoom && number >= options_.rooms)
    return refuse(player.io_thread, player.session, seat, Refusal::kMalformed);
  if (player.room != nullptr) leave_room(player);
  if (!(number == kAnyRoom ? enter_any(player) : enter(player, number)))
    refuse(player.io_thread, player.session, seat, Refusal::kRoomFull);
}

template <typename Memory>
void World<Memory>::chat(Member& player, std::uint32_t sequence, PacketReader payload) {
  const std::string_view text = payload.get_text(payload.get<std::uint16_t>());
  planted_faults_.on_chat(text);
  player.room->say(player, text);
  post_.tell(player, Reply::kChatTaken, sequence);
}

/// The ping's own bytes go back, as another type.
template <typename Memory>
void World<Memory>::pong(const Member& player, const Buffer& ping) {
  ping.data()[2] = static_cast<char>(Reply::kPong);
  post_.send(player, OutboundKind::kAnswer, ping);
}

template <typename Memory>
void World<Memory>::leave(Member& player) {
  leave_room(player);
  post_.tell(player, Reply::kLeft);
}

template <typename Memory>
void World<Memory>::refuse(std::size_t io_thread, SessionKey from, Seat& seat, Refusal reason) {
  counters_.refused[static_cast<std::size_t>(reason)].add();
  end_player(seat);
  seat.is_refused = true;
  post_.tell(static_cast<std::uint8_t>(io_thread), from, OutboundKind::kClose, Reply::kError,
             static_cast<std::uint8_t>(reason));
}

template <typename Memory>
void World<Memory>::end_player(Seat& seat) {
  if (seat.player == nullptr) return;
  if (seat.player->room != nullptr) leave_room(*seat.player);
  players_.destroy(std::exchange(seat.player, nullptr));
  --player_count_;
}

}  // namespace game
