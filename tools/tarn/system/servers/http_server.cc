// One loop around poll for all connections.
#include "system/servers/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <optional>
#include <vector>

#include "system/figures/clock.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

using observer::Descriptor;

constexpr std::size_t kMostConnections = 64, kMostRequestBytes = 8192;
constexpr double kClientSeconds = 5, kFreshSeconds = 1;
constexpr int kServeTickMs = 100;

// -- Addresses -------------------------------------------------------------------------------------------

union ListenAddress {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

std::optional<in_port_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return htons(port);
}

ListenAddress listen_address(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const std::optional<in_port_t> port = port_of(std::string_view(where).substr(colon + 1));
  std::string host = where.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.empty() || host == "localhost") host = "127.0.0.1";
  ListenAddress address = {};
  if (host.front() == '[' && host.back() == ']') {
    address.ipv6.sin6_family = AF_INET6;
    address.ipv6.sin6_port = port.value_or(0);
    if (port && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address.ipv6.sin6_addr) == 1)
      return address;
  } else {
    address.ipv4.sin_family = AF_INET;
    address.ipv4.sin_port = port.value_or(0);
    if (port && inet_pton(AF_INET, host.c_str(), &address.ipv4.sin_addr) == 1) return address;
  }
  throw UsageError(
      fmt::format("'{}' is no address to serve at: 127.0.0.1:9100, [::1]:9100 and :9100 are some", where));
}

[[noreturn]] void refuse(const std::string& where, int error) {
  if (error == EADDRINUSE)
    throw UsageError(fmt::format("{} is in use: take another port, or see by `ss -ltnp` who has it", where));
  throw UsageError(fmt::format("cannot serve at {}: {}{}", where, std::strerror(error),
                               error == EACCES ? " (ports below 1024 are root's)" : ""));
}

// -- Requests and answers --------------------------------------------------------------------------------

using Text = std::shared_ptr<const std::string>;

Text http_answer(std::string_view status, std::string_view type, std::string_view body,
                 std::string_view fields = "") {
  return std::make_shared<const std::string>(
      fmt::format("HTTP/1.1 {}\r\n"
                  "Content-Type: {}\r\n"
                  "Content-Length: {}\r\n"
                  "Connection: close\r\n"
                  "{}\r\n{}",
                  status, type, body.size(), fields, body));
}

Text http_refusal(std::string_view status, std::string_view fields = "") {
  return http_answer(status, "text/plain", fmt::format("{}\n", status), fields);
}

bool is_whole_request(std::string_view request) {
  return request.find("\r\n\r\n") != request.npos || request.find("\n\n") != request.npos;
}

struct RequestLine {
  std::string_view method, path, version;
};

/// Of "GET /metrics?a HTTP/1.1".
RequestLine request_line(std::string_view request) {
  const std::string_view line = request.substr(0, request.find_first_of("\r\n"));
  const std::size_t method_end = line.find(' '), target_end = line.rfind(' ');
  if (method_end == line.npos || method_end == target_end) return {};
  const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  return {line.substr(0, method_end), target.substr(0, target.find('?')), line.substr(target_end + 1)};
}

/// Makes the answers, of which several connections may have one.
class Answers {
 public:
  explicit Answers(const HttpServer::Page& page) : page_(page) {}

  Text to(std::string_view request) {
    const RequestLine line = request_line(request);
    if (!is_whole_request(request)) return http_refusal("431 Request Header Fields Too Large");
    if (!line.version.starts_with("HTTP/1.")) return http_refusal("400 Bad Request");
    if (line.path != page_.path) return http_refusal("404 Not Found");
    if (line.method != "GET" && line.method != "HEAD")
      return http_refusal("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
    if (answer_ == nullptr || seconds_since(made_) > kFreshSeconds) {
      answer_ = http_answer("200 OK", page_.content_type, page_.make());
      made_ = now();
    }
    return answer_;
  }

 private:
  const HttpServer::Page& page_;
  Text answer_;
  timespec made_ = {};
};

// -- Connections -----------------------------------------------------------------------------------------

/// Reads a request, writes the answer, and then waits for the client to close. \why what it has sent and
/// nobody has read would make the kernel throw the answer away
class Connection {
 public:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  pollfd waited() const { return {socket_.get(), static_cast<short>(is_writing() ? POLLOUT : POLLIN), 0}; }
  bool is_late(const timespec& at) const { return seconds_between(since_, at) > kClientSeconds; }

  /// \returns false when it is over.
  bool go_on(Answers& answers) { return is_writing() ? write() : read(answers); }

 private:
  bool is_writing() const { return answer_ != nullptr && sent_ < bytes_; }

  bool read(Answers& answers) {
    std::array<char, 4096> part;
    const ssize_t count = recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (count <= 0) return count < 0 && errno == EAGAIN;
    if (answer_ != nullptr) return true;
    request_.append(part.data(), static_cast<std::size_t>(count));
    if (!is_whole_request(request_) && request_.size() < kMostRequestBytes) return true;
    answer_ = answers.to(request_);
    bytes_ = request_.starts_with("HEAD ") ? answer_->find("\r\n\r\n") + 4 : answer_->size();
    since_ = now();
    return write();
  }

  bool write() {
    const ssize_t count =
        send(socket_.get(), answer_->data() + sent_, bytes_ - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(count);
    if (!is_writing()) shutdown(socket_.get(), SHUT_WR);
    return true;
  }

  Descriptor socket_;
  std::string request_;
  Text answer_;
  std::size_t bytes_ = 0, sent_ = 0;  // of the answer
  timespec since_ = now();            // it waits for the client
};

/// \post where there are too many, or no descriptor is left, the oldest one is gone
void accept_one(int listener, std::list<Connection>& connections) {
  Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  const bool is_out_of_descriptors = !socket.is_open() && (errno == EMFILE || errno == ENFILE);
  const bool is_full = connections.size() == kMostConnections || is_out_of_descriptors;
  if (is_full && !connections.empty())
    connections.pop_front();
  else if (is_out_of_descriptors)
    poll(nullptr, 0, kServeTickMs);  // who waits would wake this process at once, again and again
  if (socket.is_open()) connections.emplace_back(std::move(socket));
}

}  // namespace

HttpServer::HttpServer(const std::string& where) {
  const ListenAddress address = listen_address(where);
  listener_ = Descriptor(socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener_.get(), &address.any, sizeof address) != 0 || listen(listener_.get(), SOMAXCONN) != 0)
    refuse(where, errno);
}

std::string HttpServer::url() const {
  ListenAddress address = {};
  socklen_t length = sizeof address;
  getsockname(listener_.get(), &address.any, &length);
  const bool is_ipv4 = address.any.sa_family == AF_INET;
  const void* bytes = is_ipv4 ? static_cast<void*>(&address.ipv4.sin_addr) : &address.ipv6.sin6_addr;
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const std::string host = inet_ntop(address.any.sa_family, bytes, text.data(), text.size());
  return fmt::format("http://{}:{}", is_ipv4 ? host : "[" + host + "]", ntohs(address.ipv4.sin_port));
}

void HttpServer::serve(const Page& page, SignalWatch& signals) const {
  Answers answers(page);
  std::list<Connection> connections;  // the oldest first
  while (!signals.wants_end()) {
    std::vector<pollfd> waited = {{signals.descriptor(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& connection : connections) waited.push_back(connection.waited());
    poll(waited.data(), waited.size(), connections.empty() ? -1 : kServeTickMs);
    const timespec woken = now();  // what a page takes to be made makes nobody late
    auto event = waited.begin() + 2;
    for (auto one = connections.begin(); one != connections.end(); ++event) {
      const bool is_over = (event->revents != 0 && !one->go_on(answers)) || one->is_late(woken);
      one = is_over ? connections.erase(one) : std::next(one);
    }
    if (waited[1].revents != 0) accept_one(listener_.get(), connections);
  }
}

}  // namespace tarn::tool
