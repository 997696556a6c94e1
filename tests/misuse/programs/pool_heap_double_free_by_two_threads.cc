// Two threads free one block of a heap that many threads use.
#include <thread>
#include <vector>

#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  std::vector<void*> kept;
  for (int i = 0; i < 1000; ++i) kept.push_back(heap.allocate(100));
  for (int turn = 0; turn < 64; ++turn) {
    heap.deallocate(heap.allocate(100));
    std::thread([&] { heap.deallocate(heap.allocate(100)); }).join();
  }
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  std::thread([&] {
    heap.deallocate(opaque(block));
    heap.deallocate(kept[0]);
  }).join();
  std::thread([&] { heap.deallocate(opaque(block)); }).join();
}
