// What the program asks of Windows: its memory, its cores, whose malloc it has.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After it.
#include <psapi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "origin_of_malloc.h"
#include "resident.h"
#include "threads.h"

namespace tarn::bench {
namespace {

constexpr SIZE_T kKiB = 1024;

constinit DWORD_PTR own_cores = 0;  // 0: threads go where they like

}  // namespace

/// Wine's own pages count too.
Resident resident_memory() {
  PROCESS_MEMORY_COUNTERS counters;
  if (GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) == 0) return {};
  return {static_cast<long>(counters.PeakWorkingSetSize / kKiB),
          static_cast<long>(counters.WorkingSetSize / kKiB)};
}

/// Windows has no such call: a row's peak is that of the rows before it, too.
void reset_peak_resident() {}

unsigned usable_cores() {
  DWORD_PTR own = 0;
  DWORD_PTR all = 0;
  if (own_cores != 0 || GetProcessAffinityMask(GetCurrentProcess(), &own, &all) == 0) own = own_cores;
  return std::max(1u, static_cast<unsigned>(std::popcount(own)));
}

void pin_threads() {
  DWORD_PTR all = 0;
  GetProcessAffinityMask(GetCurrentProcess(), &own_cores, &all);
  stay_on_core(0);
}

void stay_on_core(unsigned index) {
  if (own_cores == 0) return;
  DWORD_PTR others = own_cores;
  for (unsigned i = index % usable_cores(); i > 0; --i) others &= others - 1;
  SetThreadAffinityMask(GetCurrentThread(), others & (~others + 1));
}

/// By the module that holds the function: the C runtime's DLL, unless the program links another malloc.
const char* origin_of_malloc() {
  static char path[MAX_PATH];
  HMODULE module = nullptr;
  constexpr DWORD kByAddress =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExA(kByAddress, reinterpret_cast<const char*>(&std::malloc), &module) == 0) return "";
  GetModuleFileNameA(module, path, sizeof path);
  std::replace(path, path + sizeof path, '\\', '/');  // it goes into JSON
  return path;
}

}  // namespace tarn::bench
