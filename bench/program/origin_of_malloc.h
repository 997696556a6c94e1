// Which library's malloc this process has: a preloaded library that defines none is no allocator.
#pragma once

namespace tarn::bench {

/// The file's name; empty where it is unknown.
const char* origin_of_malloc();

}  // namespace tarn::bench
