// The forms of operator new that return nullptr instead of throwing. The program's own operator new may
// throw, and so may its new-handler, but this code cannot catch. So it calls the C++ runtime's form of the
// same name, which calls the throwing form through the symbol table and catches.
//
// Not in the archive: a program linked with the archive has the runtime's forms, which call ours and catch.
#include "override/operators.h"
#include "override/runtime.h"
#include "tarn/memory_pool.h"
#include "thread/this_thread.h"

namespace {

using namespace tarn::internal;
using tarn::detail::allocate_from;

using NothrowNew = void* (*)(std::size_t, const std::nothrow_t&);
using AlignedNothrowNew = void* (*)(std::size_t, std::align_val_t, const std::nothrow_t&);

// The runtime's forms, once they are found.
constinit NothrowNew runtime_new = nullptr, runtime_new_array = nullptr;
constinit AlignedNothrowNew runtime_new_aligned = nullptr, runtime_new_array_aligned = nullptr;

// The C++ runtime may have any name, but comes after this library in symbol order.
template <typename Function>
Function find_form(const char* name) {
  Function const form = find_in_runtime<Function>(nullptr, name);
  return form != nullptr || &dlsym == nullptr ? form : reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Uses our form when the throwing forms are ours and there is memory; else the runtime's form. \returns
/// nullptr, as if memory were refused, when there is no runtime: then no code could catch either.
template <typename Function, typename... Alignment>
void* allocate_or_call(Function* found, const char* name, std::size_t size, Alignment... alignment) {
  if (derived_forms_may_hit()) {
    if (void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment)...)) return block;
    if (current_new_handler() == nullptr) return nullptr;
  }
  Function form = __atomic_load_n(found, __ATOMIC_RELAXED);
  if (form == nullptr) __atomic_store_n(found, form = find_form<Function>(name), __ATOMIC_RELAXED);
  return form == nullptr ? nullptr : form(size, alignment..., std::nothrow_t{});
}

[[gnu::noinline]] void* new_slow(std::size_t size) {
  return allocate_or_call(&runtime_new, "_ZnwmRKSt9nothrow_t", size);
}
[[gnu::noinline]] void* new_array_slow(std::size_t size) {
  return allocate_or_call(&runtime_new_array, "_ZnamRKSt9nothrow_t", size);
}

}  // namespace

TARN_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_from<new_slow>(TARN_OF_THREAD(derived_cache), size);
}
TARN_OPERATOR void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_from<new_array_slow>(TARN_OF_THREAD(derived_cache), size);
}
TARN_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  return allocate_or_call(&runtime_new_aligned, "_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment);
}
TARN_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment,
                                   const std::nothrow_t&) noexcept {
  return allocate_or_call(&runtime_new_array_aligned, "_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment);
}
