// The main of each program of misuse.
#include "misuse/misuse.h"

int main(int count, char** arguments) {
  if (count != 2) return fprintf(stderr, "usage: %s CASE\n", arguments[0]), 64;
  for (const MisuseCase* one = MisuseCase::newest; one != nullptr; one = one->before)
    if (strcmp(one->name, arguments[1]) == 0) return one->run(), 0;
  return fprintf(stderr, "there is no case %s\n", arguments[1]), 64;
}
