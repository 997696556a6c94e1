// Ordinary programs with one fault of memory each, prepared for no tool: `planted CASE [PLUGIN]`.
// It does its work until its standard input ends, and says "ready" once the fault shows.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

extern "C" {
char* planted_read_config(int line);  // wrapped.c: through three wrappers of malloc
}

namespace {

using namespace std::chrono_literals;

volatile std::size_t g_sink;

// What is innocent: it frees what it takes, or holds as much all the time.

void parse_line(int turn) {
  std::string line(300 + turn % 64, 'l');
  g_sink = line.find('x');
}

void build_reply(int turn) {
  std::vector<int> numbers(200 + turn % 64);
  g_sink = numbers.size();
}

void sort_scores(int turn) {
  std::map<int, int> scores;
  for (int i = 0; i < 4; ++i) scores[(turn * 7 + i * 5) % 11] = i;
  g_sink = scores.size();
}

std::vector<std::string> load_catalogue() { return std::vector<std::string>(2000, std::string(500, 'c')); }

/// Calls `step` some thousand times a second, beside innocent work; says "ready" after `until_ready` steps.
template <typename Step>
void serve(int until_ready, Step step) {
  const std::vector<std::string> catalogue = load_catalogue();
  for (int turn = 0;; ++turn) {
    step(turn);
    parse_line(turn);
    build_reply(turn);
    sort_scores(turn);
    if (turn == until_ready) {
      std::puts("ready");
      std::fflush(stdout);
    }
    if (turn % 8 == 0 && turn > until_ready) std::this_thread::sleep_for(1ms);
  }
}

struct Request {
  char path[180];
  int status;
};

void remember_request(int turn) {
  auto* request = new Request{};
  request->status = turn;
  g_sink = reinterpret_cast<std::size_t>(request) & 1;  // and nobody keeps it
}

struct Session {
  std::string name;
  std::vector<char> inbox;
};

class SessionTable {
 public:
  void add(int turn) {
    sessions_.push_back(std::make_unique<Session>(
        Session{"session of player " + std::to_string(turn), std::vector<char>(1024)}));
  }

 private:
  std::vector<std::unique_ptr<Session>> sessions_;
};

std::string format_message(int turn) {
  std::string text;
  for (int i = 0; i < 40; ++i) text = text + "player " + std::to_string(turn + i) + " has moved; ";
  return text;
}

struct Particle {
  double at[3], speed[3];
};

/// A burst of particles of which one in 32 lives on.
std::vector<std::unique_ptr<Particle>> burst_of_particles(std::size_t count) {
  std::vector<std::unique_ptr<Particle>> all(count), kept;
  for (auto& particle : all) particle = std::make_unique<Particle>();
  for (std::size_t i = 0; i < count; i += 32) kept.push_back(std::move(all[i]));
  return kept;
}

struct Tile {
  int height, kind;
  float light[4];
};

struct Job {
  struct promise_type {
    Job get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Job handle_connection(int turn) {
  char buffer[900];
  std::memset(buffer, turn, sizeof buffer);
  co_await std::suspend_always{};
  g_sink = static_cast<std::size_t>(buffer[turn % 900]);
}

class Cache {
 public:
  void put(const std::string& key, std::size_t bytes) { values_[key] = std::string(bytes, 'v'); }

 private:
  std::unordered_map<std::string, std::string> values_;
};

void worker(std::atomic<int>& done) {
  std::list<std::string> history;
  const auto record_move = [&](int turn) {
    history.push_back("moved to " + std::string(200, 'a' + turn % 26));
  };
  for (int turn = 0; turn < 1000; ++turn) record_move(turn);
  ++done;
  for (int turn = 0;; ++turn) {
    record_move(turn);
    if (turn % 4 == 0) std::this_thread::sleep_for(2ms);
  }
}

void many_threads() {
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) threads.emplace_back(worker, std::ref(done));
  while (done < 32) std::this_thread::sleep_for(1ms);
  serve(0, [](int) { std::this_thread::sleep_for(1ms); });
}

void serve_in_child() {
  std::vector<std::string> answers;
  serve(4000, [&](int turn) { answers.push_back(std::string(700, 'x') + std::to_string(turn)); });
}

/// A server of processes, of which each keeps what it has answered; the first alone says "ready".
void fork_server() {
  for (int i = 0; i < 4; ++i)
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (i > 0) close(STDOUT_FILENO);
      serve_in_child();
    }
  while (wait(nullptr) > 0) {
  }
}

void run(std::string_view fault, const char* plugin) {
  if (fault == "leak") serve(20'000, remember_request);
  if (fault == "growth") serve(8'000, [table = SessionTable()](int turn) mutable { table.add(turn); });
  if (fault == "temporaries") {
    const std::vector<std::string> texts(4000, std::string(900, 't'));
    serve(200, [](int turn) {
      for (int i = 0; i < 16; ++i) g_sink = format_message(turn).size();
    });
  }
  if (fault == "fragmentation") {
    std::vector<std::vector<std::unique_ptr<Particle>>> kept(64);
    kept[0] = burst_of_particles(1'500'000);
    serve(200, [&](int turn) { kept[1 + static_cast<std::size_t>(turn) % 63] = burst_of_particles(1000); });
  }
  if (fault == "fat_map") {
    constexpr int kTiles = 400'000;
    std::map<int, Tile> tiles;
    for (int i = 0; i < kTiles; ++i) tiles[i] = {i, i % 7, {}};
    serve(200, [&](int turn) {
      tiles.erase(turn);
      tiles[turn + kTiles] = {turn, turn % 7, {}};
    });
  }
  if (fault == "wrappers") serve(20'000, [](int turn) { g_sink = planted_read_config(turn)[0]; });
  if (fault == "coroutines")
    serve(10'000, [all = std::vector<Job>()](int turn) mutable { all.push_back(handle_connection(turn)); });
  if (fault == "plugin") {
    void* library = dlopen(plugin, RTLD_NOW);
    if (library == nullptr) std::exit(2);
    const auto render = reinterpret_cast<void (*)(int)>(dlsym(library, "planted_render"));
    serve(4'000, render);
  }
  if (fault == "threads") many_threads();
  if (fault == "forks") fork_server();
  if (fault == "cache")
    serve(20'000, [cache = Cache()](int turn) mutable { cache.put("key of " + std::to_string(turn), 300); });
  std::exit(2);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  std::thread([] {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    _exit(0);
  }).detach();
  run(words[1], count > 2 ? words[2] : "");
}
