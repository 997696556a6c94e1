// bench_peers, bench_tarn: runs rows of one contestant and prints a JSON line for each. `tarn bench` starts
// it; by hand:
//
//   --contestants               names the contestants of this program
//   --list --contestant NAME    names a contestant's rows
//   --contestant NAME           runs its warm rows
//     --group GROUP             those of one group
//     --row ROW                 the one row named (cold rows only so)
//   --threads N,... --sizes N,...   at these numbers of threads, these block sizes
//   --scale X                   multiplies the time of each row
//   --quick                     a few values of each axis
//   --pin                       each thread stays on one core
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "contestant.h"
#include "origin_of_malloc.h"
#include "threads.h"

namespace tarn::bench {
namespace {

constexpr int kUsageStatus = 2;

// Constant-initialised, hence usable by every static contestant, whichever is constructed first.
constinit Contestant* first_contestant = nullptr;

struct CommandLine {
  bool names_contestants = false;
  const char* contestant = nullptr;
  Request request;
};

[[noreturn]] void usage() {
  std::fputs(
      "usage: --contestants | --contestant NAME [--list] [--group GROUP [--row ROW]] [--threads N,...]\n"
      "       [--sizes N,...] [--scale X] [--quick] [--pin]; the lines on top of bench/program/main.cc "
      "explain them\n",
      stderr);
  std::exit(kUsageStatus);
}

Axis parse_axis(const char* text) {
  Axis axis;
  while (*text != '\0') {
    char* end;
    const unsigned long value = std::strtoul(text, &end, 10);
    if (end == text || value == 0) usage();
    axis.add(value);
    text = *end == ',' ? end + 1 : end;
    if (*end != ',' && *end != '\0') usage();
  }
  return axis;
}

/// Whether the option stands alone; if so it is taken.
bool take_flag(CommandLine& line, const char* option) {
  if (std::strcmp(option, "--contestants") == 0)
    line.names_contestants = true;
  else if (std::strcmp(option, "--list") == 0)
    line.request.purpose = Purpose::kList;
  else if (std::strcmp(option, "--quick") == 0)
    line.request.extent = Extent::kQuick;
  else if (std::strcmp(option, "--pin") == 0)
    pin_threads();
  else
    return false;
  return true;
}

void take_option(CommandLine& line, const char* option, const char* value) {
  if (value == nullptr) usage();
  if (std::strcmp(option, "--contestant") == 0)
    line.contestant = value;
  else if (std::strcmp(option, "--group") == 0)
    line.request.group = value;
  else if (std::strcmp(option, "--row") == 0)
    line.request.row = value;
  else if (std::strcmp(option, "--threads") == 0)
    line.request.threads = parse_axis(value);
  else if (std::strcmp(option, "--sizes") == 0)
    line.request.sizes = parse_axis(value);
  else if (std::strcmp(option, "--scale") == 0)
    line.request.scale = std::atof(value);
  else
    usage();
}

CommandLine parse(int count, char** arguments) {
  CommandLine line;
  for (int i = 1; i < count; ++i) {
    if (take_flag(line, arguments[i])) continue;
    take_option(line, arguments[i], i + 1 < count ? arguments[i + 1] : nullptr);
    ++i;
  }
  if (!line.names_contestants && line.contestant == nullptr) usage();
  if (!(line.request.scale > 0)) usage();
  for (const std::size_t threads : line.request.threads)
    if (threads > kMaxThreads) usage();
  return line;
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kMalloc:
      return "malloc";
    case Kind::kTarnInline:
      return "tarn-inline";
    case Kind::kInline:
      return "inline";
    case Kind::kTarnPool:
      return "tarn-pool";
    case Kind::kPool:
      break;
  }
  return "pool";
}

bool is_named_before(const Contestant& contestant) {
  for (const Contestant* other = Contestant::first(); other != &contestant; other = other->next())
    if (std::strcmp(other->name(), contestant.name()) == 0) return true;
  return false;
}

void print_contestants() {
  for (const Contestant* one = Contestant::first(); one != nullptr; one = one->next()) {
    if (is_named_before(*one)) continue;
    std::printf("{\"contestant\":\"%s\",\"kind\":\"%s\",\"synchronised\":%s,\"library\":\"%s\"}\n",
                one->name(), name_of(one->kind()), one->sharing() == Sharing::kAnyThread ? "true" : "false",
                one->library());
  }
}

void print_origin_of_malloc() {
  std::printf("{\"malloc\":\"%s\"}\n", origin_of_malloc());
  std::fflush(stdout);  // whoever reads it knows that the program has come to its main, whatever happens next
}

int run(const CommandLine& line) {
  if (line.names_contestants) {
    print_contestants();
    return 0;
  }
  if (line.request.purpose == Purpose::kRun) print_origin_of_malloc();
  Session session(line.request);
  bool is_found = false;
  for (const Contestant* one = Contestant::first(); one != nullptr; one = one->next()) {
    if (std::strcmp(one->name(), line.contestant) != 0) continue;
    is_found = true;
    for (const Workload workload : *one) workload(session);
  }
  if (!is_found) std::fprintf(stderr, "bench: no contestant %s\n", line.contestant);
  return is_found ? 0 : kUsageStatus;
}

}  // namespace

Contestant::Contestant(const char* name, Kind kind, Sharing sharing, const char* library,
                       std::initializer_list<Workload> workloads)
    : name_(name), kind_(kind), sharing_(sharing), library_(library) {
  if (workloads.size() > kMaxWorkloads) std::abort();
  for (const Workload workload : workloads) workloads_[count_++] = workload;
  Contestant** last = &first_contestant;
  while (*last != nullptr) last = &(*last)->next_;
  *last = this;
}

const Contestant* Contestant::first() { return first_contestant; }

}  // namespace tarn::bench

int main(int count, char** arguments) { return tarn::bench::run(tarn::bench::parse(count, arguments)); }
