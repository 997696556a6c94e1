// The parts of the program's C++ runtime that operator new needs: its new-handler, its bad_alloc, its forms
// that can catch. The library is linked without a runtime, so each part is looked up when it is needed; a
// runtime that dlopen loads does not exist when the program starts.
#pragma once
#include <dlfcn.h>  // dlopen and dlsym are weak: a static program may lack them, and need not link them

#include <cstddef>
#include <new>

#pragma weak dlopen
#pragma weak dlsym

namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
[[gnu::noreturn, gnu::weak]] void __throw_bad_alloc();
}  // namespace std

namespace tarn::internal {

inline constexpr std::size_t kDefaultAlignment = 1;  // every block satisfies it

template <typename Function>
Function find_in_runtime(Function linked, const char* name) {
  if (linked != nullptr || &dlopen == nullptr) return linked;
  void* const runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return runtime == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(runtime, name));
}

inline std::new_handler current_new_handler() {
  using GetNewHandler = std::new_handler (*)();
  GetNewHandler const get = find_in_runtime<GetNewHandler>(&std::get_new_handler, "_ZSt15get_new_handlerv");
  return get == nullptr ? nullptr : get();
}

}  // namespace tarn::internal
