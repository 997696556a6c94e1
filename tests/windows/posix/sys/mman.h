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
  MAP_SHARED = 1
};
enum { MFD_CLOEXEC };
#define MAP_FAILED (reinterpret_cast<void*>(-1))
enum { _SC_PAGESIZE };

inline DWORD protection_of(int protection) {
  return protection == PROT_NONE ? PAGE_NOACCESS : protection == PROT_READ ? PAGE_READONLY : PAGE_READWRITE;
}
inline void* mmap(void*, std::size_t bytes, int protection, int, int, long) {
  void* const start = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, protection_of(protection));
  return start == nullptr ? MAP_FAILED : start;
}
inline int munmap(void* start, std::size_t) { return VirtualFree(start, 0, MEM_RELEASE) != 0 ? 0 : -1; }
inline int mprotect(void* start, std::size_t bytes, int protection) {
  DWORD before = 0;
  return VirtualProtect(start, bytes, protection_of(protection), &before) != 0 ? 0 : -1;
}
inline int mincore(void*, std::size_t, unsigned char*) { return -1; }
inline int memfd_create(const char*, unsigned) { return -1; }
inline long sysconf(int) { return 4096; }
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
