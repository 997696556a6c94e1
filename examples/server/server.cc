// A chat server of one thread that docs/server_in_an_hour.md moves to tarn; a program for each STEP: below 3
// plain C++; from 3 on sessions, from 4 packets, from 5 ticks, from 6 notes lie in pools; 7 has limits too.
//
// A client sends lines: `say TEXT` to its room, `put KEY TEXT` and `get KEY` of a plugin that keeps notes. A
// line `= …` answers each; each tick tells a room in lines `* …` what was said in it.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if STEP >= 3
#include <tarn/object_pool.h>
#endif
#if STEP >= 4
#include <tarn/buffer_chain.h>
#include <tarn/buffer_pool.h>
#endif
#if STEP >= 5
#include <tarn/arena.h>
#include <tarn/memory_resource.h>
#endif
#if STEP >= 6
#include <tarn/containers.h>
#include <tarn/heap.h>
#endif
#if STEP >= 7
#include <tarn/limits.h>
#include <tarn/steady_state.h>
#endif

#if STEP < 4
using Packet = std::shared_ptr<const std::string>;

static Packet packet_of(std::string_view text) { return std::make_shared<const std::string>(text); }

class Outbox {  // packets to send, the first maybe in part
 public:
  void append(Packet packet) { packets_.push_back(std::move(packet)); }
  std::size_t fill_iovecs(iovec* entries, std::size_t most) const {
    std::size_t count = 0;
    for (auto at = packets_.begin(); at != packets_.end() && count < most; ++at, ++count)
      entries[count] = {const_cast<char*>((*at)->data()), (*at)->size()};
    if (count != 0)
      entries[0] = {static_cast<char*>(entries[0].iov_base) + sent_, entries[0].iov_len - sent_};
    return count;
  }
  void consume(std::size_t bytes) {
    for (sent_ += bytes; !packets_.empty() && sent_ >= packets_.front()->size(); packets_.pop_front())
      sent_ -= packets_.front()->size();
  }

 private:
  std::deque<Packet> packets_;
  std::size_t sent_ = 0;  // bytes of the first
};
#else
static tarn::BufferPool packets({.name = "packets", .largest_bytes = 4096});
using Packet = tarn::SharedBuffer;
using Outbox = tarn::BufferChain;

static Packet packet_of(std::string_view text) {
  Packet packet = packets.allocate_shared(text.size());
  if (packet) std::memcpy(packet.data(), text.data(), text.size());
  return packet;
}
#endif

struct Session {
  explicit Session(int descriptor) : socket(descriptor), name("player " + std::to_string(descriptor)) {}
  int socket;
  std::string name, input;
  Outbox outbox;
};
struct Said {
  std::string name, text;
};
struct Room {
  std::vector<Session*> members;
  std::vector<Said> said;  // since the last tick
};
static Room rooms[128];
static Room& room_of(const Session& session) { return rooms[session.socket % 128]; }

#if STEP < 3
static Session* make_session(int socket) { return new Session(socket); }
static void end_session(Session* session) { delete session; }
#else
static tarn::ObjectPool<Session> sessions("sessions");
static Session* make_session(int socket) { return sessions.create(socket); }
static void end_session(Session* session) { sessions.destroy(session); }
#endif

#if STEP < 6
static std::map<std::string, std::string, std::less<>> notes;
static bool put(std::string_view key, std::string_view text) {
  notes[std::string(key)] = text;
  return true;
}
#else
static tarn::Heap notes_budget({.name = "notes", .hard_limit = 4 << 20});
using OnBudget = tarn::containers<tarn::Heap>;
static OnBudget::map<OnBudget::string, OnBudget::string, std::less<>> notes(notes_budget);
static bool put(std::string_view key, std::string_view text) try {
  notes[OnBudget::string(key, notes_budget)] = text;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}
#endif

static std::pair<std::string_view, std::string_view> at_space(std::string_view text) {
  const auto end = std::min(text.find(' '), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

static void answer(Session& session, std::string_view line, std::string& answers) {
  const auto [verb, rest] = at_space(line);
  if (verb == "say") {
    room_of(session).said.push_back({session.name, std::string(rest)});
    answers += "= said\n";
  } else if (verb == "put") {
    const auto [key, text] = at_space(rest);
    answers += put(key, text) ? "= kept\n" : "= full\n";
  } else {
    const auto note = notes.find(rest);
    const std::string_view text = note == notes.end() ? "none" : std::string_view(note->second);
    ((answers += "= ") += text) += "\n";
  }
}

static void send_waiting(Session& session) {
  iovec pieces[16];
  while (const std::size_t count = session.outbox.fill_iovecs(pieces, 16)) {
    const ssize_t sent = writev(session.socket, pieces, static_cast<int>(count));
    if (sent <= 0) return;  // until the socket is writable; one that is gone is seen by receive
    session.outbox.consume(static_cast<std::size_t>(sent));
  }
}

static bool receive(Session& session) {
  char bytes[16384];
  ssize_t count;
  while ((count = read(session.socket, bytes, sizeof bytes)) > 0) session.input.append(bytes, bytes + count);
  const bool is_open = count < 0 && errno == EAGAIN;
  std::string answers;
  std::size_t from = 0;
  for (std::size_t end; (end = session.input.find('\n', from)) != std::string::npos; from = end + 1)
    answer(session, std::string_view(session.input).substr(from, end - from), answers);
  session.input.erase(0, from);
  if (!answers.empty()) session.outbox.append(packet_of(answers));
  return is_open;
}

static void tick(Room& room) {
  if (room.said.empty()) return;
#if STEP < 5
  std::map<std::string_view, int> counts;
  std::string text;
#else
  static tarn::TickArena scratch(64 * 1024, "tick");
  static tarn::memory_resource on_scratch(scratch);
  scratch.begin_tick();
  std::pmr::map<std::string_view, int> counts(&on_scratch);
  std::pmr::string text(&on_scratch);
  text.reserve(16 * 1024);
#endif
  for (const Said& said : room.said) {
    ++counts[said.name];
    ((((text += "* ") += said.name) += ": ") += said.text) += "\n";
  }
  for (const auto& [name, count] : counts)
    (((text += "* ") += name) += " said ") += std::to_string(count) + "\n";
  const Packet packet = packet_of(text);
  for (Session* session : room.members) session->outbox.append(packet), send_waiting(*session);
  room.said.clear();
}

static void accept_all(int listener, int poll) {
  for (int socket; (socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
    Session* const session = make_session(socket);
    room_of(*session).members.push_back(session);
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = session}};
    epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
  }
}

static void serve(Session* session, unsigned events) {
  const bool is_open = (events & ~unsigned{EPOLLOUT}) == 0 || receive(*session);
  send_waiting(*session);
  if (is_open) return;
  std::erase(room_of(*session).members, session);
  close(session->socket);
  end_session(session);
}

static volatile std::sig_atomic_t must_stop = 0;

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: server PORT\n", stderr), 2;
  std::signal(SIGTERM, [](int) { must_stop = 1; });
  std::signal(SIGPIPE, SIG_IGN);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[1]))),
                      .sin_addr = {htonl(INADDR_LOOPBACK)},
                      .sin_zero = {}};
  socklen_t bytes = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, bytes) != 0 || listen(listener, 4096) != 0) return std::perror("listen"), 1;
  getsockname(listener, any, &bytes);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
#if STEP >= 7
  tarn::set_memory_limits({.soft = 48 << 20, .hard = 64 << 20});
  tarn::set_limit_callback([](const tarn::LimitEvent*, void*) { std::fputs("memory is short\n", stderr); },
                           nullptr);
  sessions.prewarm(1000);
  packets.prewarm(256, 1000);
  std::optional<tarn::SteadyState> guard;
#endif
  std::printf("listening on %d\n", ntohs(address.sin_port)), std::fflush(stdout);

  const auto start = std::chrono::steady_clock::now();
  auto next_tick = start;
  while (must_stop == 0) {
    epoll_event events[256];
    const int ready = epoll_wait(poll, events, 256, 10);
    for (int i = 0; i < ready; ++i)
      events[i].data.ptr == nullptr ? accept_all(listener, poll)
                                    : serve(static_cast<Session*>(events[i].data.ptr), events[i].events);
    if (std::chrono::steady_clock::now() < next_tick) continue;
    next_tick += std::chrono::milliseconds(50);
    for (Room& room : rooms) tick(room);
#if STEP >= 7
    if (!guard && next_tick - start > std::chrono::seconds(5))
      guard.emplace(tarn::AtGrowth::kCount, "server");
#endif
  }
#if STEP >= 7
  if (guard) std::printf("grew %zu times\n", guard->growth_count());
#endif
  for (Room& room : rooms)
    for (Session* session : room.members) end_session(session);
}
