// dlopen without RTLD_DEEPBIND. A library opened with that flag looks up symbols in its own dependencies
// first: it finds the C library's malloc there, not the preloaded one, and each of the two frees blocks of
// the other. So the flag is cleared, unless the option deepbind keeps it; the next dlopen in symbol order
// does all else.
//
// dlclose, after which other code may lie where the closed library's was: what the unwinder knows of it is
// forgotten, and its stacks are not found for new samples.
//
// Only in the preloadable library, where the mistake can happen. Nothing here allocates. Threads: any; also
// before the library's constructors, since all state is one address.
//
// Invariant: the last action of dlopen is a jump and not a call. dlopen reads its return address to learn its
// caller, because the caller's RUNPATH and namespace apply: so CMakeLists.txt optimises this file in every
// kind of build.
#include <dlfcn.h>

#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "observe/profile/samples.h"
#include "os/stack/unwind.h"
#include "tarn/detail/c_api.h"

namespace {

using namespace tarn::internal;

/// The next function of a name in symbol order.
template <typename Function>
struct Next {
  const char* name;
  Function* found;

  Function* find() {
    Function* next = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (next == nullptr) {
      next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
      __atomic_store_n(&found, next, __ATOMIC_RELAXED);
    }
    return next;
  }
};
constinit Next<void*(const char*, int)> next_dlopen{"dlopen", nullptr};
constinit Next<int(void*)> next_dlclose{"dlclose", nullptr};

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
  return next_dlopen.find()(file, passed_on);
}

TARN_C_API int dlclose(void* handle) noexcept {
  const int result = next_dlclose.find()(handle);
  os::forget_unwind_rules();
  samples.note_unloaded_code();
  return result;
}
