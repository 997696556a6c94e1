// What a program does while the system refuses memory: it asks for blocks of every kind, keeps what it gets,
// and finds that a refusal is a null pointer with ENOMEM and nothing else.
#pragma once

namespace tarn::test {

/// Each returns 0, or the line that failed. They run in a child whose pool is fresh.
int allocate_mixed_sizes();
int allocate_large_blocks();
int reallocate_blocks();
int allocate_aligned_blocks();
int allocate_zeroed_blocks();
int allocate_batches();
int allocate_in_threads();
int free_from_another_thread();
int use_fixed_pools();
int use_buffer_pools();
int use_object_pools();
int use_heaps();
int use_arenas();
int use_handler_memory();

/// When memory is back, all sizes can be had. Returns 0 or the line that failed.
int allocate_everything();

}  // namespace tarn::test
