// Packets of any size: one line of news in the queues of two clients, sent with one system call each, and
// bytes that come in.
#include "tarn/buffer_pool.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "tarn/buffer_chain.h"
#include "tarn/shared_buffer.h"

static tarn::SharedBuffer packet_of(tarn::BufferPool& packets, const char* text) {
  tarn::SharedBuffer packet = packets.allocate_shared(std::strlen(text));
  std::memcpy(packet.data(), text, packet.size());
  return packet;
}

static bool send_all(int socket, tarn::BufferChain& queue) {
  while (!queue.is_empty()) {
    iovec pieces[16];
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = queue.fill_iovecs(pieces, 16);
    const ssize_t sent = sendmsg(socket, &message, 0);
    if (sent < 0) return false;
    queue.consume(static_cast<std::size_t>(sent));
  }
  return true;
}

int main() {
  // Sizes of 64, 128, 256 ... 4096 bytes, at most a thousand blocks each; nothing larger.
  tarn::BufferPool packets({.name = "packets",
                            .largest_bytes = 4096,
                            .largest_count = 1000,
                            .above = tarn::AboveLargest::kRefuse,
                            .at_cap = tarn::AtCap::kThrow});
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;

  const tarn::SharedBuffer news = packet_of(packets, "news: the gate is open\n");
  tarn::BufferChain queues[2];
  for (tarn::BufferChain& queue : queues) {
    queue.append(packet_of(packets, "hello\n"));
    queue.append(news);              // the same bytes in both
    queue.append(news.slice(0, 4));  // a part of them
  }
  const bool is_shared = news.reference_count() == 5;
  if (!send_all(sockets[0], queues[0]) || !send_all(sockets[0], queues[1])) return 1;

  tarn::BufferChain received;
  for (int i = 0; i < 4; ++i) received.append(packets.allocate_shared(20));
  iovec pieces[4];
  const ssize_t count = readv(sockets[1], pieces, static_cast<int>(received.fill_iovecs(pieces, 4)));
  received = received.split(static_cast<std::size_t>(count));  // what came; the rest ends
  const tarn::BufferChain greeting = received.split(6);
  char text[6];
  const bool is_hello = greeting.copy_to(text, sizeof text) == 6 && std::memcmp(text, "hello\n", 6) == 0;

  for (std::size_t i = 0; i < packets.size_count(); ++i)
    if (const tarn::BufferUse use = packets.use(i); use.capacity != 0)
      std::printf("%zu bytes: %zu live, at most %zu bytes, of %zu blocks\n", use.block_bytes, use.live_count,
                  use.peak_live_bytes, use.capacity);
  close(sockets[0]);
  close(sockets[1]);
  return is_shared && is_hello && news.reference_count() == 1 ? 0 : 1;
}
