#include "os/checker.h"
#include "os/memory/mappings.h"

namespace tarn::internal::os {

// The tools that replace malloc bring a library of their own besides the core's, but into no static program.
bool valgrind_serves_malloc() {
  if (!is_on_valgrind()) return false;
  bool is_found = false;
  for_each_mapping([&](const Mapping& mapping) {
    constexpr auto kNowhere = std::string_view::npos;
    is_found |=
        mapping.path.find("/vgpreload_") != kNowhere && mapping.path.find("/vgpreload_core") == kNowhere;
  });
  return is_found;
}

}  // namespace tarn::internal::os
