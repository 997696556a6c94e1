// The phases of a server's life, one after the other.
#include "system/servers/server_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/processes/process_tree.h"
#include "system/runs/child_process.h"
#include "system/runs/running_program.h"
#include "system/runs/supervision.h"
#include "system/servers/local_port.h"

namespace tarn::tool {
namespace {

constexpr double kTrialSeconds = 0.01;           // between two looks whether something has come about
constexpr double kLastWordsSeconds = 0.2;        // a load that fails because the server dies ends first
constexpr double kStragglerSeconds = 1;          // for what a server started to end after it
constexpr int kStatusOfStopped = 128 + SIGTERM;  // what a shell or a Java server makes of SIGTERM

/// Whether a text has come by in a stream, in one piece or in several.
class TextWatch {
 public:
  explicit TextWatch(const std::string& text) : text_(text) {}

  void look_at(std::string_view piece) {
    if (is_seen_ || text_.empty()) return;
    end_.append(piece);
    is_seen_ = end_.find(text_) != std::string::npos;
    if (end_.size() > text_.size()) end_.erase(0, end_.size() - text_.size());
  }
  bool is_seen() const { return is_seen_; }

 private:
  const std::string& text_;
  std::string end_;
  bool is_seen_ = false;
};

std::string end_of(const RunningProgram& program) {
  switch (program.ending()) {
    case Ending::kNotStarted:
      return fmt::format("could not be started: {}", std::strerror(program.code()));
    case Ending::kTimedOut:
      return fmt::format("was killed after {}, its timeout", format_seconds(program.elapsed_seconds()));
    case Ending::kExited:
      return fmt::format("exited with status {}", program.code());
    case Ending::kSignaled:
    case Ending::kInterrupted:
      break;
  }
  return "was ended by " + format_signal(program.code());
}

bool has_succeeded(const RunningProgram& program) {
  return program.ending() == Ending::kExited && program.code() == 0;
}

/// What a server that has put itself into the background looks like.
std::string advice_for(const RunningProgram& server) {
  return has_succeeded(server) ? "; it must run in the foreground until it is stopped" : "";
}

class ServerRun {
 public:
  ServerRun(const ServerRequest& request, SignalWatch& signals);
  ~ServerRun();
  ServerResult to_end();

 private:
  bool is_ready() const;
  std::string why_not_ready() const;
  void wait_until_ready();
  void drive();
  void judge_load();
  void rest();
  void stop();
  void judge_stop();
  void look_for_stragglers();
  void collect();
  std::vector<pid_t> processes() const;
  std::vector<pid_t> stragglers() const;
  void take_sample();
  void fail(ServerTrouble trouble, std::string what);
  bool is_over() const { return result_.failure || supervision_.interrupted_by() != 0; }

  const ServerRequest& request_;
  SignalWatch& signals_;
  TextWatch output_, errors_;
  RunRequest server_request_;
  std::optional<RunningProgram> server_, load_;
  Supervision supervision_;
  ServerResult result_;
  timespec load_start_ = {};
  bool is_sampling_ = false;
};

ServerRun::ServerRun(const ServerRequest& request, SignalWatch& signals)
    : request_(request),
      signals_(signals),
      output_(request.readiness.text),
      errors_(request.readiness.text),
      server_request_(request.server),
      supervision_(signals, request.server.on_tick) {
  server_request_.on_output = [this](std::string_view piece) { output_.look_at(piece); };
  server_request_.on_errors = [this](std::string_view piece) { errors_.look_at(piece); };
}

/// For the case that the load could not even be forked.
ServerRun::~ServerRun() {
  load_.reset();
  server_.reset();
  end_descendants();
}

void ServerRun::fail(ServerTrouble trouble, std::string what) {
  if (!is_over()) result_.failure = {trouble, std::move(what)};
}

/// The server's tree and those that lost their parents, whom the tool has adopted.
std::vector<pid_t> ServerRun::processes() const {
  std::vector<pid_t> found = tree_of(server_->pid());
  for (const pid_t adopted : children_of(getpid())) {
    if (adopted == server_->pid() || (load_ && getsid(adopted) == load_->pid())) continue;
    const std::vector<pid_t> more = tree_of(adopted);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void ServerRun::take_sample() {
  if (is_sampling_) result_.memory.push_back({seconds_since(load_start_), resident_bytes(processes())});
}

bool ServerRun::is_ready() const {
  const Readiness& readiness = request_.readiness;
  if (!readiness.text.empty() && !output_.is_seen() && !errors_.is_seen()) return false;
  return !readiness.port || accepts_connections(*readiness.port);
}

std::string ServerRun::why_not_ready() const {
  const Readiness& readiness = request_.readiness;
  const std::string most = format_seconds(readiness.most_seconds);
  if (readiness.text.empty() || output_.is_seen() || errors_.is_seen())
    return fmt::format("the server was not ready within {}: nothing accepts connections on port {}", most,
                       readiness.port.value_or(0));
  return fmt::format(
      "the server was not ready within {}: it has not written \"{}\" (or holds it back: many do in a pipe)",
      most, readiness.text);
}

void ServerRun::wait_until_ready() {
  bool has_become_ready = false;
  supervision_.wait_until([&] { return server_->has_ended() || (has_become_ready = is_ready()); },
                          {request_.readiness.most_seconds, kTrialSeconds});
  result_.ready_seconds = server_->elapsed_seconds();
  if (server_->has_ended())
    fail(ServerTrouble::kEndedBeforeReady,
         fmt::format("the server {}{}{}", end_of(*server_),
                     server_->ending() == Ending::kNotStarted ? "" : " before it was ready",
                     advice_for(*server_)));
  else if (!has_become_ready)
    fail(ServerTrouble::kNeverReady, why_not_ready());
}

void ServerRun::drive() {
  const Measurement before = use_of(processes());
  result_.memory.push_back({0, resident_bytes(processes())});
  load_start_ = now();
  load_.emplace(request_.load, signals_);
  supervision_.add(*load_);
  is_sampling_ = true;
  supervision_.every(request_.sample_seconds, [this] { take_sample(); });
  supervision_.wait_until([this] { return load_->has_ended() || server_->has_ended(); });
  result_.under_load = use_between(before, use_of(processes()));
  result_.under_load.wall_seconds = seconds_since(load_start_);
  take_sample();
  judge_load();
  supervision_.finish(*load_);
}

void ServerRun::judge_load() {
  if (is_over()) return;
  if (!server_->has_ended() && !has_succeeded(*load_))
    supervision_.wait_until([this] { return server_->has_ended(); }, {kLastWordsSeconds});
  if (server_->has_ended()) {
    fail(ServerTrouble::kDiedUnderLoad,
         fmt::format("the server {} under load{}", end_of(*server_), advice_for(*server_)));
    if (!load_->has_ended()) load_->end_by_force(Ending::kSignaled, SIGKILL);
  } else if (!has_succeeded(*load_)) {
    fail(load_->ending() == Ending::kTimedOut ? ServerTrouble::kLoadTimedOut : ServerTrouble::kLoadFailed,
         "the load " + end_of(*load_));
  }
}

void ServerRun::rest() {
  if (request_.idle_seconds > 0) {
    supervision_.wait_until([this] { return server_->has_ended(); }, {request_.idle_seconds});
    take_sample();
  }
  if (server_->has_ended())
    fail(ServerTrouble::kDiedUnderLoad,
         fmt::format("the server {} after the load, before it was told to stop", end_of(*server_)));
}

void ServerRun::stop() {
  is_sampling_ = false;
  if (server_->has_ended()) return;
  kill(server_->pid(), SIGTERM);
  supervision_.wait_until([this] { return server_->has_ended(); }, {request_.stop_seconds});
  result_.had_to_be_killed = !server_->has_ended();
  if (result_.had_to_be_killed)
    server_->end_by_force(Ending::kSignaled, SIGKILL);
  else if (!is_over())
    judge_stop();
}

void ServerRun::judge_stop() {
  const bool is_exit_as_wanted =
      server_->ending() == Ending::kExited && (server_->code() == 0 || server_->code() == kStatusOfStopped);
  const bool is_stopped = server_->ending() == Ending::kSignaled && server_->code() == SIGTERM;
  if (!is_exit_as_wanted && !is_stopped)
    fail(ServerTrouble::kStoppedBadly,
         fmt::format("the server {} when it was told to stop", end_of(*server_)));
  look_for_stragglers();
}

std::vector<pid_t> ServerRun::stragglers() const {
  std::vector<pid_t> found = processes();
  std::erase_if(found, [](pid_t pid) { return !is_alive(pid); });
  return found;
}

void ServerRun::look_for_stragglers() {
  supervision_.wait_until([this] { return stragglers().empty(); }, {kStragglerSeconds, kTrialSeconds});
  std::vector<std::string> names;
  for (const pid_t pid : stragglers()) names.push_back(name_of(pid));
  if (names.empty()) return;
  fail(ServerTrouble::kLeftProcesses,
       fmt::format("the server stopped and left {} running: {}",
                   names.size() == 1 ? "a process" : fmt::format("{} processes", names.size()),
                   fmt::join(names, ", ")));
}

void ServerRun::collect() {
  supervision_.finish(*server_);
  end_descendants();
  result_.server = server_->take_result();
  if (load_) result_.load = load_->take_result();
  std::uint64_t peak = result_.server.cost.peak_rss_bytes;
  for (const MemorySample& sample : result_.memory) peak = std::max(peak, sample.bytes);
  result_.under_load.peak_rss_bytes = peak;
  result_.interrupted_by = supervision_.interrupted_by();
}

ServerResult ServerRun::to_end() {
  const std::optional<int> port = request_.readiness.port;
  if (port && accepts_connections(*port)) {
    fail(ServerTrouble::kPortTaken, fmt::format("port {} is taken before the server starts", *port));
    return std::move(result_);
  }
  server_.emplace(server_request_, signals_);
  supervision_.add(*server_);
  wait_until_ready();
  if (!is_over()) drive();
  if (!is_over()) rest();
  stop();
  collect();
  return std::move(result_);
}

}  // namespace

ServerResult run_server(const ServerRequest& request, SignalWatch& signals) {
  return ServerRun(request, signals).to_end();
}

}  // namespace tarn::tool
