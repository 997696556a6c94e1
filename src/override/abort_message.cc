// Finds the pointer by which libc leaves the line of an abort to debuggers and crash reporters.
#include "os/fatal.h"
#include "override/runtime.h"

namespace tarn::internal {
namespace {

[[gnu::constructor]] void find_abort_message() {
  if (&dlsym == nullptr) return;
  os::abort_message_of_libc = static_cast<void**>(dlsym(RTLD_DEFAULT, "__abort_msg"));
  dlerror();  // the program did not ask
}

}  // namespace
}  // namespace tarn::internal
