// Before the runtime's <malloc.h>: _msize by the name that it has in glibc.
#pragma once
#include_next <malloc.h>

inline size_t malloc_usable_size(void* block) { return _msize(block); }
