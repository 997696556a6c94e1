// program use|here|there|malloc PLUGIN...: a program with a copy of the library, and plugins with one each.
//   use     all use their pools, one after the other, and again
//   here    the program frees a block of the plugin's copy
//   there   the plugin frees a block of the program's copy
//   malloc  blocks of malloc and operator new are freed by the other
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "use_pools.h"

namespace {

template <typename Function>
Function* find(void* plugin, const char* name) {
  return reinterpret_cast<Function*>(dlsym(plugin, name));
}

void free_blocks_of_malloc(void* plugin) {
  std::free(find<char*()>(plugin, "plugin_copies_text")());
  delete find<std::string*()>(plugin, "plugin_makes_string")();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = arguments[1];
  bool is_right = use_pools();
  for (int i = 2; i < count; ++i) {
    void* const plugin = dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL);
    if (plugin == nullptr) return std::puts(dlerror()), 2;
    const Calls calls = find<Calls()>(plugin, "plugin_calls")();
    is_right &= calls.use_pools() && use_pools();
    if (what == "here") tarn::deallocate(calls.allocate());
    if (what == "there") calls.free(tarn::allocate(100));
    if (what == "malloc") free_blocks_of_malloc(plugin);
  }
  std::puts(is_right ? "all is right" : "a pool is wrong");
}
