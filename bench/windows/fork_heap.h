// Instead of workloads/fork_heap.h: Windows has no fork.
#pragma once
#include "contestant.h"

namespace tarn::bench::fork_heap {

template <class Api>
void run(Session&) {}

}  // namespace tarn::bench::fork_heap
