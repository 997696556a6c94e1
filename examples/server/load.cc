// load PORT CLIENTS ROUNDS: clients of the server. In each round a client sends 16 lines and waits for the 16
// answers; after each fourth it hangs up and connects anew. Prints answers a second; the status is 0 when all
// have come.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static constexpr int kLines = 16;

struct Client {
  int socket = -1;
  int rounds = 0;   // begun
  int awaited = 0;  // answers
  bool is_at_line_start = true;
};

static unsigned chance() {  // the same in each run
  static std::uint64_t state = 1;
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<unsigned>(state >> 33);
}

static bool begin_round(Client& client) {
  std::string lines;
  for (int i = 0; i < kLines; ++i) {
    const unsigned kind = chance() % 16;
    const std::string key = std::to_string(chance() % 100'000);
    lines += kind == 0
                 ? "say " + std::string(8 + chance() % 80, 'x')
                 : (kind < 4 ? "put " + key + " " + std::string(20 + chance() % 200, 'v') : "get " + key);
    lines += '\n';
  }
  client.awaited = kLines;
  ++client.rounds;
  return write(client.socket, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
}

static bool take(Client& client) {  // false: the server has closed
  char bytes[16384];
  const ssize_t count = read(client.socket, bytes, sizeof bytes);
  for (ssize_t i = 0; i < count; ++i) {
    client.awaited -= client.is_at_line_start && bytes[i] == '=';
    client.is_at_line_start = bytes[i] == '\n';
  }
  return count > 0;
}

static bool connect_anew(Client& client, int poll, const sockaddr_in& address) {
  if (client.socket >= 0) close(client.socket);
  client.socket = socket(AF_INET, SOCK_STREAM, 0);
  client.is_at_line_start = true;
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &client}};
  return connect(client.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         epoll_ctl(poll, EPOLL_CTL_ADD, client.socket, &event) == 0;
}

static bool go_on(Client& client, int poll, const sockaddr_in& address) {
  return (client.rounds % 4 != 0 || connect_anew(client, poll, address)) && begin_round(client);
}

static int fail(const char* what) {
  std::perror(what);
  return 1;
}

int main(int count, char** arguments) {
  if (count != 4) return std::fputs("usage: load PORT CLIENTS ROUNDS\n", stderr), 2;
  const sockaddr_in address{.sin_family = AF_INET,
                            .sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[1]))),
                            .sin_addr = {htonl(INADDR_LOOPBACK)},
                            .sin_zero = {}};
  std::vector<Client> clients(static_cast<std::size_t>(std::atoi(arguments[2])));
  const int rounds = std::atoi(arguments[3]), poll = epoll_create1(0);
  const auto start = std::chrono::steady_clock::now();
  for (Client& client : clients)
    if (!go_on(client, poll, address)) return fail("connect");
  for (std::size_t busy = clients.size(); busy != 0;) {
    epoll_event events[256];
    const int ready = epoll_wait(poll, events, 256, 10'000);
    if (ready <= 0) return fail("no answer for ten seconds");
    for (int i = 0; i < ready; ++i) {
      Client& client = *static_cast<Client*>(events[i].data.ptr);
      const bool was_waiting = client.awaited != 0;
      if (!take(client)) return fail("the server has hung up");
      if (!was_waiting || client.awaited != 0) continue;
      if (client.rounds == rounds)
        --busy;
      else if (!go_on(client, poll, address))
        return fail("connect");
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%.0f answers a second\n",
              static_cast<double>(clients.size()) * rounds * kLines / seconds.count());
}
