// A heap ends before a heap that lies in it.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap outer("server");
  tarn::Heap inner({.name = "room", .parent = &outer});
  must_die_with("end of a heap with a heap in it in 'server'", &outer);
  outer.destroy();
}
