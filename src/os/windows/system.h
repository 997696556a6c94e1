// <windows.h> without what nobody here uses. Windows 8 or later.
#pragma once
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
// clang-format off
#include <windows.h>  // the other one needs it
#include <psapi.h>
// clang-format on

// What Windows' own headers do not declare.
extern "C" {
__declspec(dllimport) BOOLEAN NTAPI RtlDllShutdownInProgress();
BOOLEAN NTAPI SystemFunction036(void* random, ULONG bytes);  // RtlGenRandom
}

namespace tarn::internal::os {

/// Whether the process has ended its other threads, wherever they were.
inline bool is_process_ending() { return RtlDllShutdownInProgress() != 0; }

}  // namespace tarn::internal::os
