// Runs a case of misuse and compares the line it died with to the one it said it must die with. Behind it
// stand the size of the block, the thread, and the stack of the guilty call.
// usage: dies_as_it_says PROGRAM CASE
#include <csignal>
#include <cstdio>

#include "support/child.h"

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const tarn::test::ChildResult result = tarn::test::run_program({arguments[1], arguments[2]}, {}, 30);
  const bool has_line = !result.output.empty() && result.error.starts_with(result.output);
  const std::string behind = has_line ? result.error.substr(result.output.size()) : "";
  const bool tells_who = behind.starts_with("  ") && behind.find("by thread ") != std::string::npos &&
                         behind.find(" [0x") != std::string::npos;
  if (result.signal == SIGABRT && tells_who) return 0;
  std::printf("must abort with: %sinstead: %s\n", result.output.c_str(), result.describe().c_str());
  return 1;
}
