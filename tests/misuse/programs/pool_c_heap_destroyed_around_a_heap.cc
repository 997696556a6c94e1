// A heap of C's is destroyed while another lies in it.
#include "misuse/misuse.h"
#include "tarn/pools.h"

int main() {
  tarn_heap_options options{};
  options.name = "tenant";
  tarn_heap* const outer = tarn_heap_create(&options, sizeof options);
  options.parent = outer;
  options.name = "session";
  if (tarn_heap_create(&options, sizeof options) == nullptr) return 1;
  must_die_with("end of a heap with a heap in it in 'tenant'", outer);
  tarn_heap_destroy(opaque(outer));
}
