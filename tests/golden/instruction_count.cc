#include "golden/instruction_count.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

extern "C" const char __executable_start, etext;  // the linker's

namespace tarn::test {
namespace {

constexpr int kNotPossibleHere = 77;
constexpr long kBreakpoint = 0xcc;
constexpr int kWarmUps = 3;
constexpr long kMost = 100000;  // instructions; then it is no hit

void do_nothing() {}

[[gnu::noinline]] void run_between_breakpoints(void (*run)()) {
  asm volatile("int3");
  run();
  asm volatile("int3");
}

void run_operation(void (*run)()) {
  for (int i = 0; i < kWarmUps; ++i) run();
  run_between_breakpoints(run);
  _exit(0);
}

unsigned long long address_in(pid_t child) {
  user_regs_struct registers;
  ptrace(PTRACE_GETREGS, child, nullptr, &registers);
  return registers.rip;
}

bool is_breakpoint(pid_t child, unsigned long long address) {
  return (ptrace(PTRACE_PEEKTEXT, child, address, nullptr) & 0xff) == kBreakpoint;
}

bool is_in_program(unsigned long long address) {
  return address >= reinterpret_cast<unsigned long long>(&__executable_start) &&
         address < reinterpret_cast<unsigned long long>(&etext);
}

/// Steps from one breakpoint to the next. \returns how many counted instructions there are, or -1.
long count_steps(pid_t child, Counted counted) {
  int status = 0;
  long counted_steps = 0;
  for (long steps = 0; steps < kMost; ++steps) {
    const unsigned long long address = address_in(child);
    if (is_breakpoint(child, address)) return counted_steps;
    counted_steps += counted == Counted::kAll || !is_in_program(address);
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status))
      return -1;
  }
  return -1;
}

}  // namespace

long count_instructions(void (*run)(), Counted counted) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kNotPossibleHere);
    run_operation(run);
  }
  int status = 0;
  long steps = -1;
  if (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
    steps = count_steps(child, counted);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  return steps;
}

int print_instruction_counts(const Operation* operations, int count, Counted counted) {
  // Of a function that does nothing, its return is counted as its own.
  const long steps_of_nothing = count_instructions(do_nothing, Counted::kAll);
  if (steps_of_nothing < 0) {
    std::fprintf(stderr, "stepping through a child is not allowed here\n");
    return kNotPossibleHere;
  }
  const long overhead = counted == Counted::kAll ? steps_of_nothing - 1 : 0;
  for (int i = 0; i < count; ++i) {
    const long steps = count_instructions(operations[i].run, counted);
    std::printf("%-28s %4ld\n", operations[i].name, steps < 0 ? -1 : steps - overhead);
  }
  return 0;
}

}  // namespace tarn::test
