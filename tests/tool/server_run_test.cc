#include "system/servers/server_run.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch_directory.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/figures/clock.h"
#include "system/files/usage_error.h"
#include "system/runs/child_process.h"
#include "system/servers/local_port.h"

namespace tarn::tool {
namespace {

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

// The server's counters may be behind what the load has seen: by a request, and by what the kernel has not
// added to an RSS yet.
constexpr std::uint64_t kRequestBytes = 4 << 20, kLagBytes = 1 << 20;

int free_port() { return Listener().port(); }

TEST(LocalPort, AcceptsConnectionsAsLongAsSomethingListens) {
  const int free = free_port();
  EXPECT_FALSE(accepts_connections(free));
  const Listener listener;
  EXPECT_TRUE(accepts_connections(listener.port()));
}

TEST(LocalPort, ThatNobodyListensOnNeverConnectsToItself) {
  const int port = free_port() & ~1;  // the kernel gives even ports to those who connect, as long as it can
  // More trials than there are such ports.
  for (int trial = 0; trial < 20000; ++trial) ASSERT_FALSE(accepts_connections(port)) << "trial " << trial;
}

TEST(LocalPort, ThatIsTakenIsRefusedByName) {
  const Listener listener;
  EXPECT_NO_THROW(require_free_port(free_port()));
  EXPECT_EQ(
      test::error_of<UsageError>([&] { require_free_port(listener.port()); }),
      "port " + std::to_string(listener.port()) + " is taken: something accepts connections there already");
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

RunRequest request_for(std::vector<std::string> command) {
  RunRequest request;
  request.command = std::move(command);
  request.environment = own_environment();
  return request;
}

class ServerRun : public testing::Test {
 protected:
  ServerRun() { adopt_orphans(); }

  /// Whatever happened: nothing that was started is left.
  ~ServerRun() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
    EXPECT_EQ(errno, ECHILD);
  }

  ServerRequest fake(std::vector<std::string> options, int questions = 3) const {
    std::vector<std::string> command = {FAKE_SERVER, "--port", std::to_string(port_)};
    command.insert(command.end(), options.begin(), options.end());
    return {.server = request_for(std::move(command)),
            .readiness = {.port = port_},
            .load = request_for(asking(questions))};
  }

  /// A load that asks one question after the other and prints the answers.
  std::vector<std::string> asking(int questions) const {
    const std::string port = std::to_string(port_), count = std::to_string(questions);
    return {"bash", "-ec",
            "for ((i = 0; i < " + count + "; ++i)); do exec 3<>/dev/tcp/127.0.0.1/" + port +
                "; echo >&3; cat <&3; done"};
  }

  ServerResult run(const ServerRequest& request) { return run_server(request, signals_); }

  void expect_failure(const ServerRequest& request, ServerTrouble trouble, const std::string& what) {
    const ServerResult result = run(request);
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->trouble, trouble);
    EXPECT_EQ(result.failure->what, what);
  }

  const int port_ = free_port();
  SignalWatch signals_;
};

TEST_F(ServerRun, DrivesAServerWhosePortAcceptsConnectionsAndStopsIt) {
  const ServerResult result = run(fake({"--delay-ms", "100"}));
  EXPECT_FALSE(result.failure) << result.failure->what;
  EXPECT_EQ(result.load.output.kept(), "hello\nhello\nhello\n");
  EXPECT_EQ(result.server.ending, Ending::kExited);
  EXPECT_EQ(result.server.code, 0);
  EXPECT_GE(result.ready_seconds, 0.1);
  EXPECT_FALSE(result.had_to_be_killed);
  EXPECT_GT(result.under_load.wall_seconds, 0);
  EXPECT_GT(result.under_load.peak_rss_bytes, 0u);
}

TEST_F(ServerRun, ATextOnStandardErrorTellsThatItIsReady) {
  ServerRequest request = fake({"--delay-ms", "100", "--ready-text", "ready now"});
  request.readiness = {.text = "ready now"};
  EXPECT_FALSE(run(request).failure);
}

TEST_F(ServerRun, ATextOnStandardOutputMayComeInPieces) {
  ServerRequest request = fake({});
  request.server.command = {"sh", "-c", "printf rea; sleep 0.05; echo dy; exec sleep 1000"};
  request.readiness = {.text = "ready"};
  request.load.command = {"true"};
  const ServerResult result = run(request);
  EXPECT_FALSE(result.failure);
  EXPECT_GE(result.ready_seconds, 0.05);
  EXPECT_EQ(result.server.ending, Ending::kSignaled) << "which is as good an end as any";
}

TEST_F(ServerRun, WithoutPortAndTextItIsReadyWhenItIsStarted) {
  ServerRequest request = fake({});
  request.server.command = {"sleep", "1000"};
  request.readiness = {};
  request.load.command = {"echo", "done"};
  const ServerResult result = run(request);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.load.output.kept(), "done\n");
}

TEST_F(ServerRun, TheServersProcessorTimeCountsUnderLoadAndNotBefore) {
  const ServerResult result = run(fake({"--burn-ms", "400", "--burn-each-ms", "50"}, 5));
  EXPECT_NEAR(result.under_load.cpu_seconds(), 0.25, 0.1);
  EXPECT_GE(result.server.cost.cpu_seconds(), 0.6);
}

TEST_F(ServerRun, WhatItsWorkersUseCountsToo) {
  const ServerResult result = run(fake({"--fork-worker", "--burn-each-ms", "50", "--keep-kib", "4096"}, 5));
  EXPECT_FALSE(result.failure) << result.failure->what;
  EXPECT_GT(result.under_load.cpu_seconds(), 0.15);  // 0.25, and page faults
  EXPECT_LT(result.under_load.cpu_seconds(), result.server.cost.cpu_seconds() + 0.1)
      << "as if each counted twice";
  EXPECT_GT(result.under_load.minor_faults, 4u * 1024 - 100);
  EXPECT_GT(result.memory.back().bytes, 4 * kRequestBytes - kLagBytes);
}

TEST_F(ServerRun, ItsMemoryIsReadWhileItGrows) {
  ServerRequest request = fake({"--keep-kib", "4096", "--burn-each-ms", "10"}, 8);
  request.sample_seconds = 0.01;
  const ServerResult result = run(request);
  const auto is_earlier = [](const MemorySample& a, const MemorySample& b) { return a.seconds < b.seconds; };
  const auto is_less = [](const MemorySample& a, const MemorySample& b) { return a.bytes < b.bytes; };
  ASSERT_GE(result.memory.size(), 3u);
  EXPECT_TRUE(std::is_sorted(result.memory.begin(), result.memory.end(), is_earlier));
  EXPECT_TRUE(std::is_sorted(result.memory.begin(), result.memory.end(), is_less));
  EXPECT_GE(result.memory.back().bytes, result.memory.front().bytes + 7 * kRequestBytes - kLagBytes);
  EXPECT_GE(result.under_load.peak_rss_bytes, result.memory.back().bytes);
}

TEST_F(ServerRun, ItsMemoryIsReadForAWhileAfterTheLoad) {
  ServerRequest request = fake({});
  request.sample_seconds = 0.02;
  request.idle_seconds = 0.3;
  const ServerResult result = run(request);
  EXPECT_FALSE(result.failure);
  EXPECT_GE(result.memory.back().seconds, result.under_load.wall_seconds + 0.3);
}

TEST_F(ServerRun, TheCallerIsCalledAboutTwiceASecond) {
  int ticks = 0;
  ServerRequest request = fake({"--delay-ms", "700"});
  request.server.on_tick = [&ticks] { ++ticks; };
  request.idle_seconds = 0.7;
  EXPECT_FALSE(run(request).failure);
  EXPECT_GE(ticks, 2);
}

TEST_F(ServerRun, AnotherAnswerIsSeenInTheLoadsOutput) {
  const ServerResult usual = run(fake({})), other = run(fake({"--answer", "hells\n"}));
  EXPECT_FALSE(other.failure);
  const auto difference = other.load.output.first_difference(usual.load.output);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->offset, 4u);
}

TEST_F(ServerRun, APortThatIsTakenIsRefused) {
  const Listener somebody_else;
  ServerRequest request = fake({});
  request.readiness.port = somebody_else.port();
  expect_failure(request, ServerTrouble::kPortTaken,
                 "port " + std::to_string(somebody_else.port()) + " is taken before the server starts");
}

TEST_F(ServerRun, AServerThatNeverListensIsNamed) {
  ServerRequest request = fake({});
  request.server.command = {FAKE_SERVER, "--ready-text", "here I am"};
  request.readiness.most_seconds = 0.1;
  expect_failure(request, ServerTrouble::kNeverReady,
                 "the server was not ready within 100.0 ms: nothing accepts connections on port " +
                     std::to_string(port_));
  request.readiness = {.text = "there you are", .most_seconds = 0.1};
  expect_failure(request, ServerTrouble::kNeverReady,
                 "the server was not ready within 100.0 ms: it has not written \"there you are\" (or holds "
                 "it back: many do in a pipe)");
}

TEST_F(ServerRun, AServerThatEndsBeforeItIsReadyIsNamed) {
  ServerRequest request = fake({});
  request.server.command = {"sh", "-c", "exit 3"};
  expect_failure(request, ServerTrouble::kEndedBeforeReady,
                 "the server exited with status 3 before it was ready");
  request.server.command = {"sh", "-c", "kill -SEGV $$"};
  expect_failure(request, ServerTrouble::kEndedBeforeReady,
                 "the server was ended by SIGSEGV (Segmentation fault) before it was ready");
  request.server.command = {"/there/is/no/such/server"};
  expect_failure(request, ServerTrouble::kEndedBeforeReady,
                 "the server could not be started: No such file or directory");
}

TEST_F(ServerRun, AServerThatGoesToTheBackgroundIsNamedAndEnded) {
  expect_failure(
      fake({"--daemonize", "--delay-ms", "100"}), ServerTrouble::kEndedBeforeReady,
      "the server exited with status 0 before it was ready; it must run in the foreground until it "
      "is stopped");
}

TEST_F(ServerRun, AServerThatDiesUnderLoadIsNamedThoughTheLoadFailsFirst) {
  expect_failure(fake({"--die-after", "2"}, 1000), ServerTrouble::kDiedUnderLoad,
                 "the server was ended by SIGABRT (Aborted) under load");
}

TEST_F(ServerRun, ALoadThatHangsIsKilledWhenTheServerDies) {
  ServerRequest request = fake({"--die-after", "2"});
  request.load.command = {"bash", "-c", asking(2).back() + "; sleep 1000"};
  expect_failure(request, ServerTrouble::kDiedUnderLoad,
                 "the server was ended by SIGABRT (Aborted) under load");
}

TEST_F(ServerRun, AServerThatEndsWhileNothingIsAskedIsNamed) {
  const ScratchDirectory scratch;
  const std::string fifo = scratch.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ServerRequest request = fake({});
  request.server.command = {"sh", "-c", "echo ready; read line < \"$0\"; exit 4", fifo};
  request.readiness = {.text = "ready"};
  const std::string done = scratch.path("done");
  request.load.command = {"touch", done};
  request.idle_seconds = 60;
  request.server.on_tick = [&] {
    if (is_file(done)) Descriptor(open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  };
  expect_failure(request, ServerTrouble::kDiedUnderLoad,
                 "the server exited with status 4 after the load, before it was told to stop");
}

TEST_F(ServerRun, ALoadThatFailsIsNamed) {
  ServerRequest request = fake({});
  request.load.command = {"sh", "-c", "exit 7"};
  expect_failure(request, ServerTrouble::kLoadFailed, "the load exited with status 7");
  request.load.command = {"sh", "-c", "kill -KILL $$"};
  expect_failure(request, ServerTrouble::kLoadFailed, "the load was ended by SIGKILL (Killed)");
  request.load.command = {"/there/is/no/such/load"};
  expect_failure(request, ServerTrouble::kLoadFailed,
                 "the load could not be started: No such file or directory");
}

TEST_F(ServerRun, ALoadThatTakesTooLongIsKilledAndNamed) {
  ServerRequest request = fake({});
  request.load.command = {"sleep", "1000"};
  request.load.timeout_seconds = 0.1;
  const ServerResult result = run(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->trouble, ServerTrouble::kLoadTimedOut);
  EXPECT_EQ(result.load.ending, Ending::kTimedOut);
  EXPECT_EQ(result.server.ending, Ending::kExited) << "the server was told to stop all the same";
}

TEST_F(ServerRun, AServerThatDoesNotStopIsKilledWhichIsTold) {
  ServerRequest request = fake({"--ignore-term"});
  request.stop_seconds = 0.1;
  const ServerResult result = run(request);
  EXPECT_FALSE(result.failure) << result.failure->what;
  EXPECT_TRUE(result.had_to_be_killed);
  EXPECT_EQ(result.server.ending, Ending::kSignaled);
  EXPECT_EQ(result.server.code, SIGKILL);
}

TEST_F(ServerRun, AServerThatStopsWithAnErrorIsNamed) {
  expect_failure(fake({"--exit-status", "3"}), ServerTrouble::kStoppedBadly,
                 "the server exited with status 3 when it was told to stop");
  EXPECT_FALSE(run(fake({"--exit-status", "143"})).failure) << "SIGTERM as a shell tells it";
}

TEST_F(ServerRun, AServerThatLeavesAProcessBehindIsNamed) {
  expect_failure(fake({"--leave-child"}), ServerTrouble::kLeftProcesses,
                 "the server stopped and left a process running: fake_server");
}

TEST_F(ServerRun, WhatTheLoadLeavesBehindIsNotTheServers) {
  ServerRequest request = fake({});
  request.load.command = {"sh", "-c", "sleep 1000 > /dev/null 2>&1 &"};
  EXPECT_FALSE(run(request).failure);
}

TEST_F(ServerRun, AnInterruptEndsBothAndAllTheyStarted) {
  ServerRequest request = fake({"--fork-worker", "--leave-child"});
  request.load.command = {"sh", "-c", "sleep 1000 & kill -INT $PPID; wait"};
  const timespec start = now();
  const ServerResult result = run(request);
  EXPECT_EQ(result.interrupted_by, SIGINT);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.server.ending, Ending::kInterrupted);
  EXPECT_EQ(result.load.ending, Ending::kInterrupted);
  EXPECT_LT(seconds_since(start), 30);
}

TEST_F(ServerRun, AnInterruptBeforeTheServerIsReadyStartsNoLoad) {
  ServerRequest request = fake({});
  request.server.command = {"sh", "-c", "kill -TERM $PPID; exec sleep 1000"};
  const ServerResult result = run(request);
  EXPECT_EQ(result.interrupted_by, SIGTERM);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.load.pid, 0);
}

}  // namespace

}  // namespace tarn::tool
