// Trial connections.
#include "system/servers/local_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "system/files/usage_error.h"
#include "system/runs/child_process.h"

namespace tarn::tool {
namespace {

constexpr int kPatienceMilliseconds = 100;  // a listener whose queue is full does not answer

bool is_connected(int socket) {
  pollfd waited = {socket, POLLOUT, 0};
  if (poll(&waited, 1, kPatienceMilliseconds) != 1) return false;
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

/// Where nobody listens, a socket that gets the wanted port as its own connects to itself. It is closed
/// without a trace, or the port would stay taken for a minute.
template <typename Address>
bool is_its_own_peer(int socket, in_port_t Address::*port, const Address& peer) {
  Address own = {};
  socklen_t length = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0 || own.*port != peer.*port)
    return false;
  const linger none = {1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return true;
}

template <typename Address>
bool accepts(int family, in_port_t Address::*port, const Address& address) {
  const Descriptor trial(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!trial.is_open()) return false;
  const int result = connect(trial.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result != 0 && (errno != EINPROGRESS || !is_connected(trial.get()))) return false;
  return !is_its_own_peer(trial.get(), port, address);
}

}  // namespace

bool accepts_connections(int port) {
  const in_port_t number = htons(static_cast<std::uint16_t>(port));
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = number;
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 ipv6 = {};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = number;
  ipv6.sin6_addr = in6addr_loopback;
  return accepts(AF_INET, &sockaddr_in::sin_port, ipv4) || accepts(AF_INET6, &sockaddr_in6::sin6_port, ipv6);
}

void require_free_port(int port) {
  if (accepts_connections(port))
    throw UsageError(fmt::format("port {} is taken: something accepts connections there already", port));
}

}  // namespace tarn::tool
