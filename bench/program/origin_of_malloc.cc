// By the dynamic linker's table of symbols.
#include "origin_of_malloc.h"

#include <dlfcn.h>

namespace tarn::bench {

const char* origin_of_malloc() {
  Dl_info info;
  void* const function = dlsym(RTLD_DEFAULT, "malloc");
  const bool is_known = function != nullptr && dladdr(function, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? info.dli_fname : "";
}

}  // namespace tarn::bench
