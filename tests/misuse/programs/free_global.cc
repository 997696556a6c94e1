// The address of a global variable.
#include "misuse/misuse.h"

static char global[256];

int main() {
  must_die_with("free of a pointer that is no block", global);
  free(opaque(&global[0]));
}
