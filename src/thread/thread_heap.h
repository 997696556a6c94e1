// The slow side of a thread's cache: refills its magazines from slabs, and flushes them to slabs.
//
// Threads: the heap's own thread.
#pragma once
#include "page/give_back/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// Whether a bin is called too rarely for slabs of its class: then a coarser class, which other bins share,
/// serves the bin.
/// \param heap the caller's; nullptr: a thread that the shared owner serves. Needs no mutex, as the next one.
bool is_rare(const ThreadHeap* heap, Bin bin);

/// \returns the class that serves the next request of a bin; counts the request if the bin is rare, until the
/// owner's threads have asked often enough that slabs of an own class pay.
SizeClass class_that_serves(const ThreadHeap* heap, Bin bin);

/// From now on no bin is rare: a program that warms up wants all growth to come before its work begins.
void end_rare_classes();

/// Takes one block through the magazine of its class, refilling it. \pre a SlowCall. \returns nullptr when
/// memory is refused.
void* allocate(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned);

/// The same in a SlowCall, of a pool that a thread's call has come to.
void* refill_and_take(ThreadHeap& heap, SizeClass size_class);

/// Puts a block into the magazine of its class, flushing it when it is full, in a SlowCall. Blocks of other
/// owners return to these without waiting for their mutex.
void deallocate(ThreadHeap& heap, void* block, SizeClass size_class, ReturnedPages& returned);

/// Takes up to `wanted` blocks, bypassing the magazine. A heap that would have to grow first returns its idle
/// blocks, but for a pool's class. \pre a SlowCall. \returns 0 when memory is refused.
unsigned take_blocks(ThreadHeap& heap, SizeClass size_class, void** blocks, unsigned wanted,
                     ReturnedPages& returned);

}  // namespace tarn::internal
