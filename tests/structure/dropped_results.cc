// Compiled with warnings only: each line that ends in "// dropped" must be warned of, and no other. Every
// public function whose result must not be dropped is called here once.
#include <memory>

#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/asio_allocator.h"
#include "tarn/coroutine.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/pool_pointers.h"
#include "tarn/small_object.h"
#include "tarn/steady_state.h"
#include "tarn/tarn.h"

struct Small : tarn::SmallObject<Small> {};

void general_pool(void* block, void** blocks) {
  tarn::allocate(1);                               // dropped
  tarn::allocate(1, 64);                           // dropped
  tarn::allocate_zeroed(1);                        // dropped
  tarn::allocate_zeroed(1, 1);                     // dropped
  tarn::reallocate(block, 1);                      // dropped
  tarn::allocate_batch(1, 1, blocks);              // dropped
  tarn::allocate_at_least(1);                      // dropped
  tarn::MemoryPool::allocate(1);                   // dropped
  tarn::MemoryPool::allocate(1, 64);               // dropped
  tarn::MemoryPool::allocate_zeroed(1);            // dropped
  tarn::MemoryPool::allocate_zeroed(1, 1);         // dropped
  tarn::MemoryPool::reallocate(block, 1);          // dropped
  tarn::MemoryPool::allocate_batch(1, 1, blocks);  // dropped
  tarn_allocate(1);                                // dropped
  tarn_allocate_aligned(1, 64);                    // dropped
  tarn_allocate_zeroed(1, 1);                      // dropped
  tarn_reallocate(block, 1);                       // dropped
  tarn_allocate_batch(1, 1, blocks);               // dropped
  tarn::deallocate(block);
  tarn::trim();
  tarn::prewarm(1);
}

void pools(tarn::FixedPool& fixed, tarn::SharedFixedPool& shared, tarn::ObjectPool<int>& objects,
           tarn::HandlePool<int>& handles, void** blocks) {
  fixed.allocate();                  // dropped
  fixed.allocate_run(2);             // dropped
  fixed.allocate_batch(2, blocks);   // dropped
  shared.allocate();                 // dropped
  shared.allocate_run(2);            // dropped
  shared.allocate_batch(2, blocks);  // dropped
  objects.allocate();                // dropped
  objects.create(1);                 // dropped
  objects.try_create(1);             // dropped
  objects.create_for_overwrite();    // dropped
  objects.make_unique(1);            // dropped
  objects.make_shared(1);            // dropped
  handles.create(1);                 // dropped
  handles.create_for_overwrite();    // dropped
  handles.get({});                   // dropped
  fixed.reserve(10);
  objects.destroy(nullptr);
  handles.destroy({});
}

void heaps(tarn::Heap& heap, tarn::Arena& arena, tarn::HandlerMemory& memory, void* block) {
  heap.allocate(1);                                           // dropped
  heap.allocate(1, 64);                                       // dropped
  heap.allocate_zeroed(1, 1);                                 // dropped
  heap.reallocate(block, 1);                                  // dropped
  tarn::HeapScope{heap};                                      // dropped
  tarn::SteadyState{};                                        // dropped
  arena.allocate(1);                                          // dropped
  arena.create<int>(1);                                       // dropped
  arena.create_for_overwrite<int>();                          // dropped
  arena.on_cleanup([](void*) noexcept {}, nullptr);           // dropped
  arena.mark();                                               // dropped
  memory.allocate(1);                                         // dropped
  tarn::with_allocator([] {});                                // dropped
  tarn::with_allocator(memory, [] {});                        // dropped
  tarn::allocator<int>().allocate(1);                         // dropped
  tarn::source_allocator<int, tarn::Heap>(heap).allocate(1);  // dropped
  heap.release_unused();
  memory.release_unused();
}

void objects(tarn::Heap& heap, tarn::ObjectPool<tarn::SharedBlock<int>>& blocks) {
  tarn::make_unique<int>(1);                                           // dropped
  tarn::make_unique<int[]>(1);                                         // dropped
  tarn::make_unique_for_overwrite<int[]>(1);                           // dropped
  tarn::make_shared<int>(1);                                           // dropped
  tarn::allocate_unique<int>(heap, 1);                                 // dropped
  tarn::allocate_unique<int[]>(heap, 1);                               // dropped
  tarn::allocate_unique_for_overwrite<int[]>(heap, 1);                 // dropped
  tarn::allocate_shared<int>(heap, 1);                                 // dropped
  tarn::allocate_shared<int>(blocks);                                  // dropped
  Small::operator new(1);                                              // dropped
  Small::operator new[](1);                                            // dropped
  tarn::CoroutineFrame::operator new(1);                               // dropped
  tarn::CoroutineFrame::operator new(1, std::allocator_arg, heap);     // dropped
  tarn::AnyCoroutineFrame::operator new(1);                            // dropped
  tarn::AnyCoroutineFrame::operator new(1, std::allocator_arg, heap);  // dropped
}
