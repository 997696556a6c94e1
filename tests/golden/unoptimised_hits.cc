// Hits of pools in a file that is compiled without optimisation, as a game's debug build: none takes more
// instructions than new and delete of the same object.
#include <cstdio>

#include "golden/instruction_count.h"
#include "tarn/fixed_pool.h"
#include "tarn/object_pool.h"

namespace {

struct Item {
  long numbers[6];
};

tarn::ObjectPool<Item> items;
tarn::FixedPool fixed(sizeof(Item));
tarn::SharedFixedPool shared(sizeof(Item));
void* volatile block;
Item* volatile item;

void new_and_delete() {
  item = new Item;
  delete item;
}
void create_and_destroy() {
  item = items.create();
  items.destroy(item);
}
void allocate_object() {
  block = items.allocate();
  items.deallocate(block);
}
void allocate_fixed() {
  block = fixed.allocate();
  fixed.deallocate(block);
}
void allocate_shared() {
  block = shared.allocate();
  shared.deallocate(block);
}

}  // namespace

int main() {
  const long most = tarn::test::count_instructions(new_and_delete, tarn::test::Counted::kAll);
  if (most < 0) return 77;
  const tarn::test::Operation operations[] = {{"create and destroy", create_and_destroy},
                                              {"memory of an object", allocate_object},
                                              {"a fixed pool's block", allocate_fixed},
                                              {"a shared fixed pool's block", allocate_shared}};
  bool is_right = true;
  for (const tarn::test::Operation& operation : operations) {
    const long count = tarn::test::count_instructions(operation.run, tarn::test::Counted::kAll);
    std::printf("%s: %ld, new and delete: %ld\n", operation.name, count, most);
    is_right &= 0 < count && count <= most;
  }
  return is_right ? 0 : 1;
}
