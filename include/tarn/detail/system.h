/* What depends on the system in what a program inlines; src/os has the rest. For C and C++. */
#pragma once

#if defined(_WIN32)
#include "tarn/detail/on_windows.h"
#else
#include "tarn/detail/on_linux.h"
#endif
