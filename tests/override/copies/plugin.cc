// A plugin with an archive of its own inside; compiled as projects compile theirs, with everything exported.
#include <cstring>
#include <string>

#include "use_pools.h"

extern "C" Calls plugin_calls() {
  return {use_pools, [] { return tarn::allocate(100); }, [](void* block) { tarn::deallocate(block); }};
}
extern "C" char* plugin_copies_text() { return strdup("from the plugin's malloc"); }
extern "C" std::string* plugin_makes_string() { return new std::string(100, 'p'); }
