// What a bot says, and how it reads the answers.
#include "bot.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace game {
namespace {

constexpr int kMostRequests = 48;  // per bundle
constexpr std::size_t kMostBundleBytes = kMostRequests * (kLongestChat + 16);

// One bot at a time reads or writes.
const std::unique_ptr<char[]> read_buffer(new char[kLargestPacket + Bot::kReadBytes]);

std::uint64_t nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

const std::string& phrases() {
  static const std::string text = [] {
    std::string made;
    while (made.size() < kLongestChat) made += "meet me at the old mill, bring arrows and bread; ";
    return made.substr(0, kLongestChat);
  }();
  return text;
}

bool is_answer(Reply type) {
  return (type >= Reply::kMoved && type <= Reply::kDenied && type != Reply::kLeft);
}

}  // namespace

Bot::Bot(std::uint32_t number, std::uint64_t seed, const Habits& habits, Tally& tally)
    : number_(number), habits_(habits), random_(seed * 1'000'003 + number), tally_(tally) {}

int Bot::connect(const sockaddr_in& server) {
  descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return errno;
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    hang_up();
    return error;
  }
  state_ = State::kConnecting;
  return 0;
}

void Bot::hang_up() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  state_ = State::kAway;
  is_welcome_ = false;
  is_joining_ = false;
  unsent_.clear();
  partial_.clear();
  unanswered_ = 0;
}

void Bot::vanish() {
  const linger at_once = {1, 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  hang_up();
}

void Bot::proceed(Plan plan) {
  if (state_ == State::kConnecting && !finish_connecting()) return;
  if (!read() || !send_unsent()) {
    if (state_ != State::kLeaving) ++tally_.lost;
    return hang_up();
  }
  if (plan == Plan::kKnock) {
    // Without a goodbye, as thousands of ports would else stay taken for a minute.
    if (is_welcome_) vanish();
    return;
  }
  if (is_welcome_ && state_ == State::kGreeting && !is_joining_) join();
  if (state_ != State::kPlaying || unanswered_ != 0 || !unsent_.empty()) return;
  if (plan == Plan::kWait) return;
  if (bundle_start_ != 0) tally_.round_trips.add((nanoseconds_now() - bundle_start_) / 1000);
  if (plan == Plan::kPlay && bundles_left_ > 0) return send_bundle();
  // Some do not say goodbye.
  if (plan == Plan::kPlay && random_.between(0, 7) == 0) return hang_up();
  say_goodbye();
}

bool Bot::finish_connecting() {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    ++tally_.connects_failed;
    hang_up();
    return false;
  }
  ++tally_.connects;
  state_ = State::kGreeting;
  say_hello();
  return state_ == State::kGreeting;
}

bool Bot::read() {
  char* const buffer = read_buffer.get();
  const std::size_t kept = partial_.copy(buffer, partial_.size());
  const ssize_t count = recv(descriptor_, buffer + kept, kReadBytes, 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  tally_.bytes_received += static_cast<std::size_t>(count);
  const std::size_t whole = kept + static_cast<std::size_t>(count);
  const std::size_t taken = take(buffer, whole);
  partial_.assign(buffer + taken, whole - taken);
  return true;
}

std::size_t Bot::take(const char* bytes, std::size_t count) {
  std::size_t done = 0;
  for (;;) {
    const Frame frame = next_frame(bytes + done, count - done);
    if (frame.framing != Framing::kWhole) return done;
    take_packet(static_cast<Reply>(bytes[done + 2]), bytes + done + kHeaderBytes);
    done += frame.bytes;
  }
}

void Bot::take_packet(Reply type, const char* payload) {
  if (type == Reply::kWelcome) {
    std::memcpy(&rooms_, payload + sizeof(std::uint32_t), sizeof(rooms_));
    is_welcome_ = true;
  } else if (is_answer(type)) {
    ++tally_.answers;
    --unanswered_;
  } else if (type == Reply::kJoined) {
    if (state_ == State::kGreeting) {
      state_ = State::kPlaying;
      bundle_start_ = 0;
    } else if (is_joining_) {
      --unanswered_;
    }
    is_joining_ = false;  // else a match is over, and the server has found another room
  } else if (type == Reply::kError) {
    const auto reason = static_cast<std::uint8_t>(*payload);
    ++tally_.refused[reason <= kRefusalCount ? reason : 0];
  } else if (type != Reply::kLeft) {
    ++tally_.broadcasts;
  }
}

void Bot::say_hello() {
  const std::string name = fmt::format("bot {}", number_);
  char packet[64];
  PacketWriter writer(packet, Request::kHello, 1 + name.size());
  writer.put(static_cast<std::uint8_t>(name.size()));
  writer.put_bytes(name.data(), name.size());
  bundles_left_ = static_cast<unsigned>(random_.between(30, 120));
  send(packet, writer.size());
}

void Bot::join() {
  char packet[64];
  send(packet, write_join(packet));
}

void Bot::say_goodbye() {
  char packet[kHeaderBytes];
  PacketWriter writer(packet, Request::kLeave, 0);
  state_ = State::kLeaving;
  if (send(packet, writer.size())) shutdown(descriptor_, SHUT_WR);
}

void Bot::send_bundle() {
  char bundle[kMostBundleBytes];
  std::size_t bytes = 0;
  unsigned count = static_cast<unsigned>(random_.between(habits_.least_requests, habits_.most_requests));
  unanswered_ = count;
  tally_.sent += count;
  --bundles_left_;
  if (bundles_left_in_room_-- == 0) {
    bytes += write_join(bundle);
    --count;
  }
  for (; count > 0; --count) bytes += write_request(bundle + bytes);
  bundle_start_ = nanoseconds_now();
  send(bundle, bytes);
}

std::size_t Bot::write_request(char* place) {
  ++sequence_;
  const int kind = random_.between(0, 99);
  if (kind < 70) return write_move(place, Request::kMove);
  if (kind < 78) return write_use(place);
  if (kind < 86) return write_move(place, Request::kShoot);
  if (kind < 91) return write_look(place);
  if (kind < 99) return write_ping(place);
  return write_chat(place);
}

std::size_t Bot::write_move(char* place, Request type) {
  PacketWriter writer(place, type, 8);
  writer.put(sequence_);
  writer.put(static_cast<std::int16_t>(random_.between(-16, 16)));
  writer.put(static_cast<std::int16_t>(random_.between(-16, 16)));
  return writer.size();
}

std::size_t Bot::write_look(char* place) {
  PacketWriter writer(place, Request::kLook, 6);
  writer.put(sequence_);
  writer.put(static_cast<std::uint16_t>(random_.between(100, 700)));
  return writer.size();
}

std::size_t Bot::write_use(char* place) {
  PacketWriter writer(place, Request::kUse, 5);
  writer.put(sequence_);
  writer.put(static_cast<std::uint8_t>(random_.between(0, 255)));
  return writer.size();
}

std::size_t Bot::write_ping(char* place) {
  const auto bytes = static_cast<std::size_t>(random_.between(0, 200));
  PacketWriter writer(place, Request::kPing, 4 + bytes);
  writer.put(sequence_);
  writer.put_bytes(phrases().data(), bytes);
  return writer.size();
}

std::size_t Bot::write_chat(char* place) {
  const auto bytes = static_cast<std::uint16_t>(random_.between(8, 240));
  PacketWriter writer(place, Request::kChat, 6u + bytes);
  writer.put(sequence_);
  writer.put(bytes);
  writer.put_bytes(phrases().data(), bytes);
  return writer.size();
}

std::size_t Bot::write_join(char* place) {
  // Bots spread evenly and wander on room by room.
  bundles_left_in_room_ = static_cast<unsigned>(random_.between(20, 80));
  is_joining_ = true;
  PacketWriter writer(place, Request::kJoin, 2);
  writer.put(habits_.joins_any ? kAnyRoom : static_cast<std::uint16_t>((number_ + rooms_seen_++) % rooms_));
  return writer.size();
}

bool Bot::send(const char* bytes, std::size_t count) {
  const ssize_t sent = ::send(descriptor_, bytes, count, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    ++tally_.lost;
    hang_up();
    return false;
  }
  const std::size_t done = sent < 0 ? 0 : static_cast<std::size_t>(sent);
  unsent_.append(bytes + done, count - done);
  return true;
}

bool Bot::send_unsent() {
  if (unsent_.empty()) return true;
  const ssize_t sent = ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  unsent_.erase(0, static_cast<std::size_t>(sent));
  return true;
}

}  // namespace game
