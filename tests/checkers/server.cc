// A small server, correct by construction, to be looked at by checkers: server SECONDS. Four workers serve
// four clients over socket pairs; what they handle comes from every kind of pool, wanders between threads,
// and ends in others than it began in. Ends with status 0 and one line when each answer was right.
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace {

constexpr int kClients = 4;
constexpr std::size_t kRoomPlaces = 64;

struct Message {
  Message(int from, std::string said) : client(from), text(std::move(said)) {}
  int client;
  std::string text;
};
struct Session {
  long served = 0;
};

struct Server {
  tarn::ObjectPool<Message> messages{{.name = "messages"}};
  tarn::HandlePool<Session> sessions{{.name = "sessions"}};
  tarn::BufferPool packets;
  tarn::SharedFixedPool records{64};
  tarn::Heap values{"values"};
  std::mutex mutex;
  std::deque<tarn::SharedBuffer> history;  // its buffers end in any thread
  std::deque<Message*> kept;               // as do its objects
  std::deque<void*> blocks, rows, texts;
};

/// Puts one in and takes the oldest out, once there are many.
template <typename T>
T turn_over(std::deque<T>& room, T newest) {
  room.push_back(std::move(newest));
  if (room.size() <= kRoomPlaces) return T{};
  T oldest = std::move(room.front());
  room.pop_front();
  return oldest;
}

void* filled(void* block, std::size_t bytes) { return std::memset(block, 7, bytes); }

void serve_one(Server& server, int client, std::size_t bytes) {
  Message* message = server.messages.create(client, std::string(bytes, 'm'));
  void* block = filled(tarn::allocate(bytes), bytes);
  void* row = filled(server.records.allocate(), 64);
  void* text = filled(server.values.allocate(bytes), bytes);
  tarn::SharedBuffer packet = server.packets.allocate_shared(bytes);
  filled(packet.data(), bytes);
  {
    const std::lock_guard guard(server.mutex);
    message = turn_over(server.kept, message);
    block = turn_over(server.blocks, block);
    row = turn_over(server.rows, row);
    text = turn_over(server.texts, text);
    packet = turn_over(server.history, std::move(packet));
  }
  if (message != nullptr) server.messages.destroy(message);
  if (block != nullptr) tarn::deallocate(block);
  if (row != nullptr) server.records.deallocate(row);
  if (text != nullptr) server.values.deallocate(text);
}

/// Answers each request, a number, with the number behind it, until the peer closes.
void work(Server& server, int socket, int client) {
  const tarn::Handle<Session> session = server.sessions.create();
  tarn::Arena scratch;
  for (int request = 0; read(socket, &request, sizeof request) == sizeof request;) {
    scratch.reset();
    *scratch.create<int>() = request;
    serve_one(server, client, 16 + static_cast<std::size_t>(request) % 2000);
    ++server.sessions.get(session)->served;
    ++request;
    if (write(socket, &request, sizeof request) != sizeof request) std::abort();
  }
  server.sessions.destroy(session);
}

void ask(int socket, std::chrono::steady_clock::time_point end) {
  int i = 0;
  do {
    int number = i * 37;
    if (write(socket, &number, sizeof number) != sizeof number) std::abort();
    if (read(socket, &number, sizeof number) != sizeof number || number != i * 37 + 1) std::abort();
    i = (i + 1) % 10'000;
  } while (std::chrono::steady_clock::now() < end);
  close(socket);
}

void end_all(Server& server) {
  for (Message* const message : server.kept) server.messages.destroy(message);
  for (void* const block : server.blocks) tarn::deallocate(block);
  for (void* const row : server.rows) server.records.deallocate(row);
  for (void* const text : server.texts) server.values.deallocate(text);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + seconds(count > 1 ? std::atoi(arguments[1]) : 1);
  Server server;
  std::vector<std::thread> threads;
  int sockets[kClients][2];
  for (int i = 0; i < kClients; ++i) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]) != 0) return 1;
    threads.emplace_back(work, std::ref(server), sockets[i][0], i);
    threads.emplace_back(ask, sockets[i][1], end);
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& pair : sockets) close(pair[0]);
  end_all(server);
  std::puts("served");
}
