// A program that is started under a limit: use_all_memory SIZE LEAST. \returns what use_all_memory() does.
#include "fault/use_all_memory.h"

#include <cstdlib>

int main(int count, char** arguments) {
  if (count != 3) return 64;
  return tarn::test::use_all_memory(std::strtoull(arguments[1], nullptr, 10),
                                    std::strtoull(arguments[2], nullptr, 10));
}
