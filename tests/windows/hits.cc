// A hit of each kind, for hits.py to read. What it is about comes second: the first argument's register is
// the processor's for shifts, so a hit that stands alone would copy it.
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

extern "C" {
void* hit_allocate(int, std::size_t size) { return tarn::allocate(size); }
void* hit_allocate_100() { return tarn::allocate(100); }
void hit_deallocate(int, void* block) { tarn::deallocate(block); }
void* hit_shared_fixed_pool_allocate(int, tarn::SharedFixedPool& pool) { return pool.allocate(); }
void hit_shared_fixed_pool_deallocate(int, tarn::SharedFixedPool& pool, void* block) {
  pool.deallocate(block);
}
long* hit_object_pool_create(int, tarn::ObjectPool<long>& pool) { return pool.try_create(1L); }
}
