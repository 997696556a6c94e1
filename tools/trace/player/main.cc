// tarn_replay SCRIPT [verify] [fixed-addresses]: makes the calls of a script to whichever malloc is loaded,
// and writes one JSON object: time, memory at each sample, latency of calls. `tarn replay` starts it.
//
// Nothing here allocates between the start and the end of the steps but the steps themselves.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "trace/player/crew.h"

namespace tarn::trace::player {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;

struct Assignment {
  Crew* crew;
  std::uint32_t thread;
  Checks checks;
  pthread_t handle;
};

void* carry_out(void* argument) {
  const auto* const assignment = static_cast<const Assignment*>(argument);
  work(*assignment->crew, assignment->thread, assignment->checks);
  return nullptr;
}

/// \why a stack in shared memory does not count
void start_thread(Assignment& assignment) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, shared_array<char>(kStackBytes), kStackBytes);
  if (pthread_create(&assignment.handle, &attributes, carry_out, &assignment) != 0)
    fail("cannot start as many threads as were recorded");
  pthread_attr_destroy(&attributes);
}

void play_on_threads(Crew& crew, Assignment* assignments) {
  const std::uint32_t count = crew.head().thread_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    crew.set_next_start(crew.thread(i).begins_after);
    crew.wait_for_others(crew.thread(i).begins_after);
    start_thread(assignments[i]);
  }
  crew.set_next_start(Progress::kDone);
  for (std::uint32_t i = 0; i < count; ++i) pthread_join(assignments[i].handle, nullptr);
}

double play(Crew& crew, Checks checks) {
  const std::uint32_t count = crew.head().thread_count;
  auto* const assignments = shared_array<Assignment>(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    assignments[i] = {&crew, i, checks, {}};
    prepare_latencies(crew, i);
  }
  crew.start();
  if (count == 1)
    work(crew, 0, checks);
  else
    play_on_threads(crew, assignments);
  const double seconds = crew.seconds_since_start();
  crew.take_sample();
  return seconds;
}

void print_latencies(Crew& crew) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < crew.head().thread_count; ++i) count += crew.progress(i).latency_count;
  auto* const all = shared_array<std::uint32_t>(count);
  std::uint32_t* end = all;
  for (std::uint32_t i = 0; i < crew.head().thread_count; ++i)
    end = std::copy_n(crew.progress(i).latencies, crew.progress(i).latency_count, end);
  std::sort(all, end);
  std::printf("\"latency_samples\":%zu,\"latency_ns\":{", count);
  const char* separator = "";
  for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}) {
    if (static_cast<double>(count) * (1 - share) < 10) break;
    std::printf("%s\"%s\":%u", separator, name,
                all[static_cast<std::size_t>(static_cast<double>(count) * share)]);
    separator = ",";
  }
  std::printf("},");
}

/// Which library's malloc was called: a preloaded library that defines none is no allocator.
void print_origin_of_malloc() {
  Dl_info info;
  void* const function = dlsym(RTLD_DEFAULT, "malloc");
  const bool is_known = function != nullptr && dladdr(function, &info) != 0 && info.dli_fname != nullptr;
  std::printf("\"malloc\":\"%s\",", is_known ? info.dli_fname : "");
}

void print_report(Crew& crew, double seconds) {
  std::uint64_t failed = 0;
  for (std::uint32_t i = 0; i < crew.head().thread_count; ++i) failed += crew.progress(i).failed_calls;
  std::printf("{\"seconds\":%.9f,\"failed_calls\":%" PRIu64 ",\"bytes_at_start\":%" PRIu64 ",", seconds,
              failed, crew.bytes_at_start());
  print_origin_of_malloc();
  print_latencies(crew);
  std::printf("\"samples\":[");
  for (std::uint32_t i = 0; i < crew.sample_count(); ++i) {
    const MemorySample& sample = crew.sample(i);
    std::printf("%s[%.6f,%" PRIu64 ",%" PRId64 "]", i == 0 ? "" : ",", sample.seconds, sample.bytes,
                sample.live_bytes);
  }
  std::printf("]}\n");
}

/// \why where a mapping lies decides which of its pages can be huge ones
void fix_addresses(char** arguments) {
  const int now = personality(0xffffffff);
  if (now < 0 || (now & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0)
    execv("/proc/self/exe", arguments);
}

bool is_asked_for(int count, char** arguments, const char* word) {
  return std::any_of(arguments + 2, arguments + count,
                     [word](const char* argument) { return std::strcmp(argument, word) == 0; });
}

}  // namespace
}  // namespace tarn::trace::player

int main(int count, char** arguments) {
  using namespace tarn::trace::player;
  if (count < 2) fail("usage: tarn_replay SCRIPT [verify] [fixed-addresses]; `tarn replay` makes scripts");
  if (is_asked_for(count, arguments, "fixed-addresses")) fix_addresses(arguments);
  const Checks checks = is_asked_for(count, arguments, "verify") ? Checks::kContents : Checks::kNone;
  Crew crew(arguments[1]);
  const double seconds = play(crew, checks);
  if (checks == Checks::kContents) check_live_blocks(crew);
  print_report(crew, seconds);
}
