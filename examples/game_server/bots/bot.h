// One bot: connects, greets, joins a room, plays, goes to another room, leaves, comes back. What it does is
// decided by its seed alone; when, by how fast the server answers: it sends a bundle of requests, waits for
// the answers to all of them, and sends the next. Broadcasts come in between and are counted.
//
// Threads: one, the crowd's.
#pragma once
#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "../protocol.h"
#include "../random.h"
#include "tally.h"

namespace game {

/// What all bots of a crowd do alike.
struct Habits {
  bool joins_any = false;  // whether the server chooses the rooms
  int least_requests = 8;  // per bundle
  int most_requests = 48;
};

class Bot {
 public:
  enum class State : std::uint8_t { kAway, kConnecting, kGreeting, kPlaying, kLeaving };

  Bot(std::uint32_t number, std::uint64_t seed, const Habits& habits, Tally& tally);
  ~Bot() { hang_up(); }
  Bot(const Bot&) = delete;
  Bot& operator=(const Bot&) = delete;

  std::uint32_t number() const { return number_; }
  State state() const { return state_; }
  /// Whether answers to what it sent are still to come.
  bool is_waiting() const { return unanswered_ != 0 || !unsent_.empty(); }
  int descriptor() const { return descriptor_; }
  /// Whether it waits for the socket to take what it has to say.
  bool wants_to_write() const { return state_ == State::kConnecting || !unsent_.empty(); }

  /// Starts to connect. \returns errno, 0 when it is on its way.
  int connect(const sockaddr_in& server);
  /// What to do once it is in the game.
  enum class Plan : std::uint8_t {
    kWait,
    kPlay,
    kLeave,
    kKnock,  // does not come in: hangs up when it is welcome
  };
  /// Goes on as far as it gets. \post kAway when it has hung up
  void proceed(Plan plan);
  void hang_up();
  /// The same without a goodbye of TCP's, as when the machine is cut off.
  void vanish();

  static constexpr std::size_t kReadBytes = 256 << 10;

 private:
  bool finish_connecting();
  bool read();
  /// \returns the bytes that were whole packets.
  std::size_t take(const char* bytes, std::size_t count);
  void take_packet(Reply type, const char* payload);
  void say_hello();
  void join();
  void say_goodbye();
  void send_bundle();
  std::size_t write_request(char* place);
  std::size_t write_move(char* place, Request type);
  std::size_t write_chat(char* place);
  std::size_t write_look(char* place);
  std::size_t write_use(char* place);
  std::size_t write_ping(char* place);
  std::size_t write_join(char* place);
  bool send(const char* bytes, std::size_t count);
  bool send_unsent();

  const std::uint32_t number_;
  const Habits habits_;
  Random random_;
  Tally& tally_;
  int descriptor_ = -1;
  State state_ = State::kAway;
  bool is_welcome_ = false;
  bool is_joining_ = false;
  std::string unsent_;
  std::string partial_;
  unsigned unanswered_ = 0;
  unsigned bundles_left_in_room_ = 0;
  unsigned bundles_left_ = 0;
  unsigned rooms_seen_ = 0;
  std::uint16_t rooms_ = 1;  // that the server has
  std::uint32_t sequence_ = 0;
  std::uint64_t bundle_start_ = 0;  // nanoseconds
};

}  // namespace game
