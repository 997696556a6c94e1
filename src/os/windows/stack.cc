// Stacks, the code that they lie in, and faults, by the tables that exceptions use.
#include <algorithm>
#include <cstring>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "os/code/faults.h"
#include "os/code/loaded_code.h"
#include "os/fatal.h"
#include "os/memory/own_memory.h"
#include "os/process/process_status.h"
#include "os/stack/code_place.h"
#include "os/stack/unwind.h"
#include "os/windows/system.h"

namespace tarn::internal::os {
namespace {

/// \returns the file that an address lies in; nullptr: none.
char* file_of(std::uintptr_t address) {
  MEMORY_BASIC_INFORMATION area{};
  const bool is_of_file =
      VirtualQuery(reinterpret_cast<void*>(address), &area, sizeof area) != 0 && area.Type == MEM_IMAGE;
  return is_of_file ? static_cast<char*>(area.AllocationBase) : nullptr;
}

// The name that the file was linked under is in its table of exports, if it has one: asking the loader would
// take its lock.
const char* name_of(const char* file) {
  const auto& head = *reinterpret_cast<const IMAGE_DOS_HEADER*>(file);
  const auto& rest = *reinterpret_cast<const IMAGE_NT_HEADERS64*>(file + head.e_lfanew);
  const IMAGE_DATA_DIRECTORY& exports = rest.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
  if (exports.VirtualAddress == 0) return "program";
  return file + reinterpret_cast<const IMAGE_EXPORT_DIRECTORY*>(file + exports.VirtualAddress)->Name;
}

}  // namespace

bool is_of_own_library(std::uintptr_t address) {
  const char* const own = file_of(address_of(reinterpret_cast<const void*>(&is_of_own_library)));
  return own == file_of(address) && own != reinterpret_cast<char*>(GetModuleHandleA(nullptr));
}

bool add_code_place(Text& text, std::uintptr_t address) {
  constexpr std::size_t kLongest = 128;
  const char* const file = file_of(address);
  if (file == nullptr) return false;
  add_shown(text, name_of(file), kLongest);
  text.add('+').add_hex(address - address_of(file));
  return true;
}

namespace {

// A function without an entry in the tables calls none: its stack pointer is where it returns to.
bool step(CONTEXT& context, bool is_innermost) {
  ULONG_PTR start = 0, end = 0;
  GetCurrentThreadStackLimits(&start, &end);
  if (context.Rsp < start || context.Rsp + sizeof(void*) > end) return false;
  DWORD64 base = 0, frame = 0;
  void* handler = nullptr;
  RUNTIME_FUNCTION* const function = RtlLookupFunctionEntry(context.Rip, &base, nullptr);
  if (function != nullptr) {
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &handler, &frame, nullptr);
  } else {
    context.Rip = is_innermost ? word_at(context.Rsp) : 0;
    context.Rsp += sizeof(void*);
  }
  return context.Rip != 0;
}

unsigned walk(CONTEXT& context, void** addresses, unsigned most) {
  unsigned count = 0;
  for (; count < most && step(context, count == 0); ++count)
    addresses[count] = reinterpret_cast<void*>(context.Rip);
  return count;
}

}  // namespace

unsigned capture_stack_from(StackPlace place, void** addresses, unsigned most) {
  CONTEXT context{};
  context.Rip = place.address;
  context.Rsp = place.stack_pointer;
  context.Rbp = place.frame_pointer;
  return walk(context, addresses, most);
}

[[gnu::noinline]] unsigned capture_stack(void** addresses, unsigned most) {
  CONTEXT context;
  RtlCaptureContext(&context);
  return walk(context, addresses, most);
}

void forget_unwind_rules() {}

const char* exported_name(const void*) { return nullptr; }

// A profile's addresses are those of the process while it runs.
bool look_up_code(std::uint64_t, LoadedCode&) { return false; }
std::uint32_t copy_build_id(const LoadedCode&, unsigned char*, std::size_t) { return 0; }
std::size_t write_working_directory(char*, std::size_t) { return 0; }

namespace {

bool (*is_watched)(const void* address);
void (*tell_of)(std::uintptr_t address, const MemoryFault& fault);

LONG WINAPI on_fault(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record.NumberParameters < 2)
    return EXCEPTION_CONTINUE_SEARCH;
  const std::uintptr_t address = record.ExceptionInformation[1];
  const CONTEXT& context = *exception->ContextRecord;
  if (is_watched(reinterpret_cast<const void*>(address)))
    tell_of(address, {record.ExceptionInformation[0] == 1, {context.Rip, context.Rsp, context.Rbp}});
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void watch_faults(bool (*owns)(const void* address),
                  void (*tell)(std::uintptr_t address, const MemoryFault& fault)) {
  static constinit std::atomic<bool> is_watching{false};
  if (is_watching.exchange(true)) return;
  is_watched = owns;
  tell_of = tell;
  AddVectoredExceptionHandler(0, on_fault);
}

// Reads that fault are the system's to make.
OwnMemory::OwnMemory() : way_(Way::kCall) {}
OwnMemory::~OwnMemory() = default;

std::size_t OwnMemory::read(const AddressRange* ranges, unsigned count, char* to) const {
  std::size_t copied = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t bytes = ranges[i].end - ranges[i].start;
    SIZE_T got = 0;
    ReadProcessMemory(GetCurrentProcess(), reinterpret_cast<const void*>(ranges[i].start), to + copied, bytes,
                      &got);
    copied += got;
    if (got != bytes) break;
  }
  return copied;
}

AddressRange OwnMemory::next_written(AddressRange within) const { return within; }

}  // namespace tarn::internal::os
