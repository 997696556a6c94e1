// write_example_trace FILE ROUNDS: the trace of made_trace.h, for tests of the command.
#include <cstdlib>

#include "trace/made_trace.h"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  tarn::test::write_example(arguments[1], std::strtoull(arguments[2], nullptr, 10));
}
