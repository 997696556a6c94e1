// As much of it as tests use that have nothing else of Linux.
#pragma once
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cstddef>
#include <cstdlib>

#undef OPTIONAL
enum {
  PROT_NONE = 0,
  PROT_READ = 1,
  PROT_WRITE = 2,
  MAP_PRIVATE = 2,
  MAP_ANONYMOUS = 32,
  MAP_NORESERVE = 0,
  MAP_POPULATE = 0x8000,
  MAP_SHARED = 1
};
enum { MFD_CLOEXEC };
#define MAP_FAILED (reinterpret_cast<void*>(-1))
enum { _SC_PAGESIZE };

inline DWORD protection_of(int protection) {
  return protection == PROT_NONE ? PAGE_NOACCESS : protection == PROT_READ ? PAGE_READONLY : PAGE_READWRITE;
}
inline void* mmap(void*, std::size_t bytes, int protection, int flags, int, long) {
  constexpr std::size_t kPageBytes = 4096;
  void* const start = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, protection_of(protection));
  if (start == nullptr) return MAP_FAILED;
  if ((flags & MAP_POPULATE) != 0)
    for (std::size_t i = 0; i < bytes; i += kPageBytes) static_cast<volatile char*>(start)[i] = 0;
  return start;
}
/// Neighbours that were mapped apart may go together, as on Linux; a part of a mapping may not.
inline int munmap(void* start, std::size_t bytes) {
  char* at = static_cast<char*>(start);
  for (char* const end = at + bytes; at < end;) {
    MEMORY_BASIC_INFORMATION region;
    if (VirtualQuery(at, &region, sizeof region) == 0 || VirtualFree(at, 0, MEM_RELEASE) == 0) return -1;
    at += region.RegionSize;
  }
  return 0;
}
inline int mprotect(void* start, std::size_t bytes, int protection) {
  DWORD before = 0;
  return VirtualProtect(start, bytes, protection_of(protection), &before) != 0 ? 0 : -1;
}
inline int mincore(void*, std::size_t, unsigned char*) { return -1; }
inline int memfd_create(const char*, unsigned) { return -1; }
inline long sysconf(int) { return 4096; }
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
