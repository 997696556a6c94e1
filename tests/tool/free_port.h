// A TCP port of this machine that nobody listens on, and a listener on it.
#pragma once
#include <arpa/inet.h>
#include <sys/socket.h>

#include "system/child_process.h"

namespace tarn::tool {

/// Listens on a port of 127.0.0.1 that the kernel chose.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length);
    listen(socket_.get(), 8);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

 private:
  Descriptor socket_;
  int port_;
};

inline int free_port() { return Listener().port(); }

}  // namespace tarn::tool
