// The thread that plays the game: ticks the world on the clock, and stands between the world and the
// mailboxes of the IO threads.
//
// A tick's duration is that of all the work of the logic thread: taking requests, answering, playing, and
// handing the answers over. Ticks that are late follow each other at once, up to kMostTicksLate; what is
// later than that is skipped.
//
// Threads: what is marked so may be called from any.
#pragma once
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "net/io_thread.h"
#include "world/world.h"

namespace game {

template <typename Memory>
class Logic {
 public:
  using IoThreads = std::vector<std::unique_ptr<IoThread<Memory>>>;

  /// \param on_reload called when a client asks for the configuration to be read again.
  Logic(Hub<Memory>& hub, IoThreads& io_threads, std::function<void()> on_reload)
      : hub_(hub),
        io_threads_(io_threads),
        on_reload_(std::move(on_reload)),
        world_(hub.memory, hub.options) {}

  // From any thread:
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() { is_stopping_.store(true); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  /// The next tick prints all figures.
  void ask_for_figures() { are_figures_wanted_.store(true); }
  /// The next tick begins with other rules.
  void set_rules(const Rules& rules) {
    const std::lock_guard lock(mutex_);
    next_rules_ = rules;
  }

  /// \pre the thread has ended, or is the caller.
  void print_figures();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostTicksLate = 8;

  void run();
  void tick();
  void take_requests();
  void deliver();
  void serve_control();
  void answer_admins();
  Figures figures() const;
  std::vector<TickSample> untold_ticks() {
    return ticks_.since(std::exchange(first_untold_, ticks_.count()));
  }

  Hub<Memory>& hub_;
  IoThreads& io_threads_;
  const std::function<void()> on_reload_;
  World<Memory> world_;
  typename World<Memory>::Batch batch_;
  TickHistory ticks_;
  std::uint64_t ticks_skipped_ = 0;
  std::uint64_t first_untold_ = 0;  // the first tick since figures were last printed
  std::uint64_t latest_ = 0;        // since an administrator last asked
  std::uint64_t begun_ = 0;         // since one said that it begins
  std::uint64_t allocations_ = 0;
  std::uint32_t give_back_calls_served_ = 0;

  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> are_figures_wanted_{false};
  std::mutex mutex_;
  std::optional<Rules> next_rules_;
  std::thread thread_;
};

inline std::uint32_t nanoseconds_between(const timespec& start, const timespec& end) {
  return static_cast<std::uint32_t>((end.tv_sec - start.tv_sec) * 1'000'000'000 + end.tv_nsec -
                                    start.tv_nsec);
}

template <typename Memory>
void Logic<Memory>::run() {
  const auto period = std::chrono::nanoseconds(1'000'000'000 / hub_.options.ticks_per_second);
  Clock::time_point next = Clock::now();
  while (!is_stopping_.load()) {
    std::this_thread::sleep_until(next);
    serve_control();
    hub_.give_back_if_asked(world_.thread(), give_back_calls_served_);
    tick();
    next += period;
    if (const auto late = (Clock::now() - next) / period; late > kMostTicksLate) {
      next += late * period;
      ticks_skipped_ += static_cast<std::uint64_t>(late);
    }
  }
  tick();  // what the last clients left behind
  allocations_ = request_count;
}

template <typename Memory>
void Logic<Memory>::tick() {
  timespec cpu_start;
  timespec cpu_end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_start);
  const Clock::time_point start = Clock::now();
  take_requests();
  world_.play();
  answer_admins();
  deliver();
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_end);
  ticks_.add({static_cast<std::uint32_t>(wall.count()), nanoseconds_between(cpu_start, cpu_end)});
}

template <typename Memory>
void Logic<Memory>::take_requests() {
  for (std::size_t i = 0; i < io_threads_.size(); ++i) {
    IoThread<Memory>& io_thread = *io_threads_[i];
    const bool is_behind = !io_thread.outbound().has_room();
    world_.post().set_behind(i, is_behind);
    if (is_behind) continue;
    io_thread.inbound().take(batch_);
    world_.handle(i, batch_);
  }
}

template <typename Memory>
void Logic<Memory>::deliver() {
  for (std::size_t i = 0; i < io_threads_.size(); ++i) {
    IoThread<Memory>& io_thread = *io_threads_[i];
    const bool has_news = !world_.post().batch(i).empty();
    io_thread.outbound().deliver(world_.post().batch(i));
    if (io_thread.takes_up_again() || has_news) io_thread.wake();
  }
}

template <typename Memory>
void Logic<Memory>::serve_control() {
  if (are_figures_wanted_.exchange(false)) print_figures();
  const std::lock_guard lock(mutex_);
  if (next_rules_) world_.set_rules(*std::exchange(next_rules_, std::nullopt));
}

template <typename Memory>
void Logic<Memory>::answer_admins() {
  for (const auto& request : world_.admin_requests()) {
    if (request.what == Admin::kReload) on_reload_();
    if (request.what == Admin::kBegin) begun_ = ticks_.count();
    const std::string json =
        short_json(figures(), ticks_.since(std::exchange(latest_, ticks_.count())), ticks_.since(begun_));
    PacketWriter writer(nullptr);
    auto packet = world_.post().begin(Reply::kFigures, json.size(), writer);
    writer.put_bytes(json.data(), json.size());
    world_.post().send(request.io_thread, request.from, OutboundKind::kAnswer, std::move(packet));
  }
  world_.admin_requests().clear();
}

template <typename Memory>
Figures Logic<Memory>::figures() const {
  Figures figures;
  for (const auto& io_thread : io_threads_) {
    figures.add(io_thread->counters());
    figures.messages += io_thread->inbound().size() + io_thread->outbound().size();
  }
  world_.add_to(figures);
  figures.ticks = ticks_.count();
  figures.ticks_skipped = ticks_skipped_;
  figures.allocations = std::max(allocations_, request_count);
  figures.sessions = hub_.session_count.load(std::memory_order_relaxed);
  figures.most_sessions = hub_.most_at_once.load(std::memory_order_relaxed);
  return figures;
}

template <typename Memory>
void Logic<Memory>::print_figures() {
  print(figures(), untold_ticks(), hub_.options.is_json ? OutputForm::kJson : OutputForm::kText);
}

}  // namespace game
