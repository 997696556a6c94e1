// dlopen without RTLD_DEEPBIND. A library opened with that flag asks its own dependencies for a symbol first:
// it finds the C library's malloc there, not the one that was preloaded, and each gives the other's blocks
// back. So the flag is cleared, unless the option deepbind says to keep it; all else is the next dlopen's in
// the order of symbols.
//
// In the preloadable library alone, where the mistake can happen. Nothing here allocates. Threads: any; also
// before the library's constructors, since all state is one address.
//
// Invariant: the last thing done is a jump and no call. dlopen looks at its return address to learn who asks,
// whose RUNPATH and whose namespace count: CMakeLists.txt has this file optimised in every kind of build.
#include <dlfcn.h>

#include "general/configuration.h"
#include "general/setup.h"

namespace {

using namespace tarn::internal;

using Dlopen = void* (*)(const char*, int);

constinit Dlopen next_dlopen = nullptr;

Dlopen find_next_dlopen() {
  Dlopen next = __atomic_load_n(&next_dlopen, __ATOMIC_RELAXED);
  if (next == nullptr) {
    next = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
    __atomic_store_n(&next_dlopen, next, __ATOMIC_RELAXED);
  }
  return next;
}

bool deepbind_is_kept() {
  enum { kIgnore, kKeep };
  set_up_once();
  return configuration.value(Option::kDeepbind) == kKeep;
}

int flags_to_pass_on(int flags) {
  return (flags & RTLD_DEEPBIND) == 0 || deepbind_is_kept() ? flags : flags & ~RTLD_DEEPBIND;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int flags) noexcept {
  const int passed_on = flags_to_pass_on(flags);
  return find_next_dlopen()(file, passed_on);
}
