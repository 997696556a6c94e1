// Asks for figures and reads the answer without waiting for it.
#include "admin.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace game {

AdminLine::AdminLine(const sockaddr_in& server)
    : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (descriptor_ < 0 ||
      connect(descriptor_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0) {
    const int error = errno;
    close(descriptor_);
    throw std::system_error(error, std::generic_category(), "nobody answers; is the server running?");
  }
}

AdminLine::~AdminLine() { close(descriptor_); }

void AdminLine::ask(Admin what) {
  char packet[kHeaderBytes + 1];
  PacketWriter writer(packet, Request::kAdmin, 1);
  writer.put(what);
  send(descriptor_, packet, writer.size(), MSG_NOSIGNAL);
}

std::optional<nlohmann::json> AdminLine::answer() {
  char bytes[kLargestPacket];
  const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
    throw std::runtime_error("the server has hung up");
  if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
  const Frame frame = next_frame(received_.data(), received_.size());
  if (frame.framing != Framing::kWhole) return std::nullopt;
  const std::string packet = received_.substr(0, frame.bytes);
  received_.erase(0, frame.bytes);
  if (static_cast<Reply>(packet[2]) != Reply::kFigures)
    throw std::runtime_error("the server does not answer questions about itself");
  return nlohmann::json::parse(packet.begin() + kHeaderBytes, packet.end());
}

}  // namespace game
