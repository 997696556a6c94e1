// bench_malloc, bench_inline: runs the rows of one group and prints a JSON line for each.
//
//   --list                      names all rows
//   --group NAME [--row NAME]   runs a group's warm rows, or the one row named (cold rows only so)
//   --scale X                   multiplies the time of each row
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "groups.h"
#include "session.h"

namespace tarn::bench {
namespace {

struct Group {
  const char* name;
  void (*run)(Session&);
};

template <std::uint32_t LargestBytes>
void run_001_up_to(Session& session) {
  run_001(session, LargestBytes);
}

constexpr Group kGroups[] = {
    {"000_single", run_000_single},
    {"000_multi", run_000_multi},
    {"000_stress_single", run_000_stress_single},
    {"000_stress_multi", run_000_stress_multi},
    {"000_mixed", run_000_mixed},
    {"001_1024", run_001_up_to<1024>},
    {"001_2048", run_001_up_to<2048>},
    {"001_4096", run_001_up_to<4096>},
    {"001_8192", run_001_up_to<8192>},
    {"001_16344", run_001_up_to<16344>},
    {"001_32767", run_001_up_to<32767>},
    {"002_fixed", run_002_fixed},
    {"002_mixed", run_002_mixed},
    {"004_batches", run_004_batches},
    {"cross_thread", run_cross_thread},
    {"server_mix", run_server_mix},
    {"cold_touch", run_cold_touch},
    {"large_loop", run_large_loop},
    {"boundary", run_boundary},
};

struct CommandLine {
  bool list = false;
  const char* group = nullptr;
  const char* row = nullptr;
  double scale = 1;
};

[[noreturn]] void usage() {
  std::fputs("usage: bench_malloc|bench_inline --list | --group NAME [--row NAME] [--scale X]\n", stderr);
  std::exit(2);
}

CommandLine parse(int count, char** arguments) {
  CommandLine line;
  for (int i = 1; i < count; ++i) {
    const char* const option = arguments[i];
    if (std::strcmp(option, "--list") == 0) {
      line.list = true;
      continue;
    }
    const char* const value = i + 1 < count ? arguments[++i] : nullptr;
    if (value == nullptr) usage();
    if (std::strcmp(option, "--group") == 0)
      line.group = value;
    else if (std::strcmp(option, "--row") == 0)
      line.row = value;
    else if (std::strcmp(option, "--scale") == 0)
      line.scale = std::atof(value);
    else
      usage();
  }
  if (!line.list && (line.group == nullptr || line.scale <= 0)) usage();
  return line;
}

int run(const CommandLine& line) {
  Session session(line.list ? Session::Mode::kList : Session::Mode::kRun, line.row, line.scale);
  bool found = line.list;
  for (const Group& group : kGroups) {
    if (!line.list && std::strcmp(group.name, line.group) != 0) continue;
    found = true;
    session.enter(group.name);
    group.run(session);
  }
  if (!found) std::fprintf(stderr, "bench: no group %s\n", line.group);
  return found ? 0 : 2;
}

}  // namespace
}  // namespace tarn::bench

int main(int count, char** arguments) { return tarn::bench::run(tarn::bench::parse(count, arguments)); }
