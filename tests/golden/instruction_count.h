// Counts the instructions a function executes, from its first to its return, by stepping a child through it.
// There are no hardware counters everywhere, and reading a disassembly is brittle.
#pragma once

namespace tarn::test {

/// What is counted: a call without arguments and results, so that all of them cost the caller the same.
struct Operation {
  const char* name;
  void (*run)();
};

enum class Counted { kAll, kOutsideOfTheProgram };  // the latter: what libraries execute on its behalf

/// Runs each operation three times, counts its fourth, and prints "name: count".
/// \returns a status for main(): 77 where stepping through a child is not allowed.
int print_instruction_counts(const Operation* operations, int count, Counted counted);

/// Runs `run` three times in a child and counts its fourth. \returns -1 where stepping is not allowed.
long count_instructions(void (*run)(), Counted counted);

}  // namespace tarn::test
