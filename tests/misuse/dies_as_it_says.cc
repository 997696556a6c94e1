// Runs a case of misuse and compares the line it died with to the one it said it must die with.
// usage: dies_as_it_says PROGRAM CASE
#include <csignal>
#include <cstdio>

#include "support/child.h"

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const tarn::test::ChildResult result = tarn::test::run_program({arguments[1], arguments[2]}, {}, 30);
  if (result.signal == SIGABRT && !result.output.empty() && result.error == result.output) return 0;
  std::printf("must abort with: %sinstead: %s\n", result.output.c_str(), result.describe().c_str());
  return 1;
}
