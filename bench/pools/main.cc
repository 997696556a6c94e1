// bench_pools_peers, bench_pools_tarn: runs the rows of one group on one pool and prints a JSON line for
// each.
//
//   --pools                                names the pools of this program and their groups
//   --list --pool NAME                     names a pool's rows
//   --pool NAME --group NAME [--row NAME]  runs a group's warm rows, or the one row named (cold rows only so)
//   --scale X                              multiplies the time of each row
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "contestant.h"

namespace tarn::bench {
namespace {

// Constant-initialised, hence usable by every static contestant, whichever is constructed first.
constinit Contestant* first_contestant = nullptr;

struct CommandLine {
  bool names_pools = false;
  bool lists_rows = false;
  const char* pool = nullptr;
  const char* group = nullptr;
  const char* row = nullptr;
  double scale = 1;
};

[[noreturn]] void usage() {
  std::fputs("usage: --pools | --list --pool NAME | --pool NAME --group NAME [--row NAME] [--scale X]\n",
             stderr);
  std::exit(2);
}

void take_option(CommandLine& line, const char* option, const char* value) {
  if (value == nullptr) usage();
  if (std::strcmp(option, "--pool") == 0)
    line.pool = value;
  else if (std::strcmp(option, "--group") == 0)
    line.group = value;
  else if (std::strcmp(option, "--row") == 0)
    line.row = value;
  else if (std::strcmp(option, "--scale") == 0)
    line.scale = std::atof(value);
  else
    usage();
}

CommandLine parse(int count, char** arguments) {
  CommandLine line;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--pools") == 0)
      line.names_pools = true;
    else if (std::strcmp(arguments[i], "--list") == 0)
      line.lists_rows = true;
    else {
      take_option(line, arguments[i], i + 1 < count ? arguments[i + 1] : nullptr);
      ++i;
    }
  }
  const bool is_complete =
      line.names_pools || (line.pool != nullptr && (line.lists_rows || line.group != nullptr));
  if (!is_complete || line.scale <= 0) usage();
  return line;
}

void print_pools() {
  for (const Contestant* contestant = Contestant::first(); contestant != nullptr;
       contestant = contestant->next()) {
    std::printf("{\"pool\":\"%s\",\"groups\":[", contestant->name());
    const char* separator = "";
    for (const Workload& workload : *contestant) {
      std::printf("%s\"%s\"", separator, workload.group);
      separator = ",";
    }
    std::puts("]}");
  }
}

bool run_workloads(const Contestant& contestant, const CommandLine& line) {
  Session session(line.lists_rows ? Session::Mode::kList : Session::Mode::kRun, line.row, line.scale);
  bool found = false;
  for (const Workload& workload : contestant) {
    if (line.group != nullptr && std::strcmp(workload.group, line.group) != 0) continue;
    found = true;
    session.enter(workload.group);
    workload.run(session);
  }
  return found;
}

int run(const CommandLine& line) {
  if (line.names_pools) {
    print_pools();
    return 0;
  }
  bool found = false;
  for (const Contestant* contestant = Contestant::first(); contestant != nullptr;
       contestant = contestant->next()) {
    if (std::strcmp(contestant->name(), line.pool) == 0) found |= run_workloads(*contestant, line);
  }
  if (found) return 0;
  std::fprintf(stderr, "bench: no pool %s with group %s\n", line.pool,
               line.group != nullptr ? line.group : "(any)");
  return 2;
}

}  // namespace

Contestant::Contestant(const char* name, std::initializer_list<Workload> workloads) : name_(name) {
  for (const Workload& workload : workloads) workloads_[count_++] = workload;
  Contestant** last = &first_contestant;
  while (*last != nullptr) last = &(*last)->next_;
  *last = this;
}

const Contestant* Contestant::first() { return first_contestant; }

}  // namespace tarn::bench

int main(int count, char** arguments) { return tarn::bench::run(tarn::bench::parse(count, arguments)); }
