// How long a running program takes to notice that a profile was switched on, and that it was switched off.
//
//   first_answer PID COUNT
//
// Prints a line of JSON: microseconds from each switch to the first call that noticed it, and how many
// samples were left at the end.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "observer/process/source.h"
#include "observer/watch/sampling.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kInterval = 512 * 1024;
constexpr auto kLongestWait = std::chrono::seconds(2);
constexpr useconds_t kPauseUs = 5'000;  // between two switches

/// \returns microseconds; -1 when nothing was noticed.
double time_to_notice(const tarn::observer::SamplingWords& words, std::uint64_t interval) {
  const Clock::time_point start = Clock::now();
  words.set(interval);
  while (!words.is_noticed())
    if (Clock::now() - start > kLongestWait) return -1;
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void print(const char* name, const std::vector<double>& times) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < times.size(); ++i) std::printf("%s%.1f", i == 0 ? "" : ", ", times[i]);
  std::printf("], ");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: first_answer PID COUNT\n", stderr);
    return 2;
  }
  try {
    const auto source = tarn::observer::open_process(std::atoi(argv[1]));
    const tarn::observer::SamplingWords words(*source);
    std::vector<double> on, off;
    for (int i = 0; i < std::atoi(argv[2]); ++i) {
      on.push_back(time_to_notice(words, kInterval));
      usleep(kPauseUs);
      off.push_back(time_to_notice(words, 0));
      usleep(kPauseUs);
    }
    std::printf("{");
    print("on_us", on);
    print("off_us", off);
    std::printf("\"live_samples_left\": %zu}\n", words.read().live.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "first_answer: %s\n", error.what());
    return 1;
  }
}
