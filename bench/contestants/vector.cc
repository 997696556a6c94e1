// What source 000 measured against: `new std::vector<char>(size)`, two allocations and zeroing. And what a
// walk over a pool's live objects takes the place of: an array of pointers to them.
#include <vector>

#include "contestant.h"
#include "live_objects.h"
#include "source_000.h"

namespace tarn::bench {
namespace {

struct NewVector {
  using Vector = std::vector<char>;
  static void* allocate(std::size_t bytes) { return new Vector(bytes); }
  static void deallocate(void* block, std::size_t) { delete static_cast<Vector*>(block); }
  static void* memory_of(void* block) { return static_cast<Vector*>(block)->data(); }
};

const Contestant vector("vector", Kind::kPool, Sharing::kAnyThread, "new std::vector<char>, g++ " __VERSION__,
                        {source_000::run<NewVector>});
const Contestant pointers("pointers", Kind::kPool, Sharing::kOneThread,
                          "an array of pointers to live objects",
                          {live_objects::run_walks<live_objects::Pointers>});

}  // namespace
}  // namespace tarn::bench
