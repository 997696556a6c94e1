// Threads and processors of Windows.
//
// The end of a thread is told by a callback that the loader calls for each file and thread, behind those of
// the C runtime, so that the destructors of thread_local objects have run.
// \why not a fiber-local callback: it runs when a fiber is deleted, maybe by a thread that goes on.
#include "os/process/library_thread.h"
#include "os/process/process_status.h"
#include "os/process/processors.h"
#include "os/process/thread_end.h"
#include "os/windows/system.h"
#include "tarn/detail/api.h"

namespace tarn::internal::os {
namespace {

void (*end_of_thread)(void* value) = nullptr;
TARN_DEFINE_THREAD_VARIABLE(void*, value_at_end) = nullptr;

// A DLL is never unloaded: threads, and handlers of faults, point into it.
void stay_loaded() {
  constexpr DWORD kStays = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  HMODULE own = nullptr;
  GetModuleHandleExA(kStays, reinterpret_cast<const char*>(&stay_loaded), &own);
}

void NTAPI on_change(void*, DWORD reason, void*) {
  if (reason == DLL_PROCESS_ATTACH) stay_loaded();
  if (reason != DLL_THREAD_DETACH || end_of_thread == nullptr) return;
  void*& value = TARN_OF_THREAD(value_at_end);
  void* const noted = value;
  value = nullptr;
  if (noted != nullptr) end_of_thread(noted);
}

DWORD WINAPI run(void* body) {
  reinterpret_cast<void (*)()>(body)();
  return 0;
}

}  // namespace

// The linker sorts the callbacks by the names of their sections.
extern "C" [[gnu::section(".CRT$XLY"), gnu::used]] constinit const PIMAGE_TLS_CALLBACK tarn_thread_callback =
    on_change;

bool watch_thread_ends(void (*at_end)(void* value)) {
  end_of_thread = at_end;
  return true;
}

bool note_for_thread_end(void* value) {
  TARN_OF_THREAD(value_at_end) = value;
  return true;
}

bool start_thread(void (*body)()) {
  constexpr std::size_t kStackBytes = 256 * 1024;
  const HANDLE thread = CreateThread(nullptr, kStackBytes, run, reinterpret_cast<void*>(body),
                                     STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  if (thread == nullptr) return false;
  CloseHandle(thread);
  return true;
}

// The process ends when main does, whatever threads there are.
bool is_last_thread() { return false; }

std::uint32_t thread_id() { return GetCurrentThreadId(); }
void let_others_run() { SwitchToThread(); }
std::size_t thread_count() { return 0; }
std::size_t address_bytes() { return 0; }
bool main_thread_has_ended() { return false; }

void note_processors() {}

unsigned processor_count() { return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); }

unsigned this_processor() { return GetCurrentProcessorNumber(); }

}  // namespace tarn::internal::os
