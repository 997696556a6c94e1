// A program with objects in pools of every kind: 300 in each, of which 100 are lost. Of the handle pool none
// is lost: no pointer needs to name its objects.
#include <new>
#include <vector>

#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"
#include "waits.h"

namespace {

constexpr int kHeld = 200, kLost = 100;

struct Item {
  virtual ~Item() = default;
  int number = 0;
};

tarn::ObjectPool<Item> objects({.name = "objects"});
tarn::FixedPool fixed({.name = "fixed", .block_bytes = 64});
tarn::Heap heap("heap");
tarn::HandlePool<Item> handled({.name = "handled"});
std::vector<void*> held;
std::vector<tarn::Handle<Item>> handles;

[[gnu::noinline]] void make(int count, bool (*keep)(void*)) {
  for (int i = 0; i < count; ++i) {
    keep(objects.create());
    keep(new (fixed.allocate()) Item);
    keep(new (heap.allocate(sizeof(Item))) Item);
  }
}

bool hold(void* object) {
  held.push_back(object);
  return true;
}
bool lose(void*) { return true; }

}  // namespace

int main() {
  make(kHeld, hold);
  make(kLost, lose);
  for (int i = 0; i < kHeld + kLost; ++i) handles.push_back(handled.create());
  return tell_and_wait();
}
