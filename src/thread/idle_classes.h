// Looks for what the classes of a heap do not need: blocks in their magazines, which pin slabs, and empty
// slabs go back before the heap grows, where magazines in use have no room beside idle ones, with time, and
// after a peak. A look comes to some classes in turn, in the thread's own slow calls.
//
// Threads: the heap's own, in a SlowCall.
#pragma once
#include "page/give_back/returned_pages.h"
#include "thread/heap_record.h"

namespace tarn::internal {

/// Call at each miss, before the magazine of the class that was missed is refilled or flushed: looks where
/// time has passed, much was freed, or magazines lack room. \cost two loads mostly.
void look_at_a_miss(ThreadHeap& heap, SizeClass missed, ReturnedPages& returned);

/// Call before the heap's owner makes a slab: looks where it would have more slabs than at its recent peak,
/// and then also drops its cached spans, or where many calls have missed since the last look. \pre the
/// owner's mutex is held.
void look_before_growth_locked(ThreadHeap& heap, ReturnedPages& returned);

}  // namespace tarn::internal
