// Mistakes that a compiler refuses, each with one error; the marks say in which words (refused_test.py).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/containers.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

namespace {

struct Entity {
  int x;
};
struct Room {
  tarn::ObjectPool<int> numbers;
};
struct Connection {
  tarn::HandlerMemory memory;
};

using On = tarn::containers<tarn::Heap>;

}  // namespace

void refused_with_a_sentence(tarn::Heap& heap, tarn::HandlePool<Entity>& handles) {
  std::vector<tarn::FixedPool>().emplace_back(64);                // refused: a pool stays in place
  std::vector<tarn::SharedFixedPool>().reserve(2);                // refused: a pool stays in place
  std::vector<tarn::ObjectPool<Entity>>().emplace_back("a");      // refused: a pool stays in place
  std::vector<tarn::Heap>().reserve(10);                          // refused: a pool stays in place
  std::vector<tarn::Arena>().resize(4);                           // refused: a pool stays in place
  std::vector<tarn::BufferPool>().push_back(tarn::BufferPool());  // refused: a pool stays in place
  std::vector<Connection>().emplace_back();                       // refused: a pool stays in place
  std::vector<Room>().emplace_back();                             // refused: a pool stays in place
  tarn::HandlePool<Entity> moved(std::move(handles));             // refused: a pool stays in place
  tarn::Heap copied(heap);                                        // refused: deleted

  tarn::FixedPool blocks("blocks");         // refused: a pool of blocks is told their size
  tarn::SharedFixedPool records("blocks");  // refused: a pool of blocks is told their size
  tarn::ObjectPool<int[4]> arrays;          // refused: FixedPool has contiguous blocks

  On::vector<std::string>(heap).emplace_back();                     // refused: would take memory elsewhere
  On::map<tarn::string, int>(heap).try_emplace("a", 1);             // refused: would take memory elsewhere
  On::string text("a text");                                        // refused: deleted
#if !defined(__clang__)                                             // which takes these
  tarn::Heap out_of_order({.hard_limit = 9, .name = "a"});          // refused: designator order for field
  tarn::ObjectPool<int> other_order({.sensitive = 1, .name = ""});  // refused: designator order for field
#endif
}
