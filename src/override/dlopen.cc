// dlopen without RTLD_DEEPBIND. A library opened with that flag looks up symbols in its own dependencies
// first: it finds the C library's malloc there, not the preloaded one, and each of the two frees blocks of
// the other. So the flag is cleared, unless the option deepbind keeps it; the next dlopen in symbol order
// does all else.
//
// Only in the preloadable library, where the mistake can happen. Nothing here allocates. Threads: any; also
// before the library's constructors, since all state is one address.
//
// Invariant: the last action is a jump and not a call. dlopen reads its return address to learn its caller,
// whose RUNPATH and namespace apply: so CMakeLists.txt optimises this file in every kind of build.
#include <dlfcn.h>

#include "general/configuration.h"
#include "general/setup.h"
#include "tarn/detail/c_api.h"

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

TARN_C_API void* dlopen(const char* file, int flags) noexcept {
  const int passed_on = flags_to_pass_on(flags);
  return find_next_dlopen()(file, passed_on);
}
