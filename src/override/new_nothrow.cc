// The forms of operator new that return nullptr instead of throwing. The program's own operator new may throw, and so
// may its new-handler, and nothing here can catch: then the C++ runtime's form of the same name is called, which calls
// the throwing form through the symbol table and catches.
//
// Not in the archive: a program linked with that has the runtime's forms, which call ours and catch.
#include "override/operators.h"
#include "override/runtime.h"
#include "tarn/memory_pool.h"

namespace {

using namespace tarn::internal;

using New = void* (*)(std::size_t);
using AlignedNew = void* (*)(std::size_t, std::align_val_t);
using NothrowNew = void* (*)(std::size_t, const std::nothrow_t&);
using AlignedNothrowNew = void* (*)(std::size_t, std::align_val_t, const std::nothrow_t&);

// What was found so far.
constinit NothrowNew runtime_new = nullptr, runtime_new_array = nullptr;
constinit AlignedNothrowNew runtime_new_aligned = nullptr, runtime_new_array_aligned = nullptr;

// \why opaque: for a compiler two names are two functions.
template <typename Function>
bool is_same(Function current, Function own) {
  asm("" : "+r"(own));
  return current == own;
}

bool new_is_ours() { return is_same<New>(&::operator new, tarn_own_new); }
bool new_array_is_ours() { return new_is_ours() && is_same<New>(&::operator new[], tarn_own_new_array); }
bool new_aligned_is_ours() { return is_same<AlignedNew>(&::operator new, tarn_own_new_aligned); }
bool new_array_aligned_is_ours() {
  return new_aligned_is_ours() && is_same<AlignedNew>(&::operator new[], tarn_own_new_array_aligned);
}

// A runtime of another name comes after this library in the order of symbols.
template <typename Function>
Function find_form(const char* name) {
  Function const form = find_in_runtime<Function>(nullptr, name);
  return form != nullptr || &dlsym == nullptr ? form : reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// \returns nullptr, as if memory were refused, where there is no runtime: then nobody can catch either.
template <typename Function, typename... Arguments>
[[gnu::cold, gnu::noinline]] void* call_runtime(Function* found, const char* name, Arguments... arguments) {
  Function form = __atomic_load_n(found, __ATOMIC_RELAXED);
  if (form == nullptr) __atomic_store_n(found, form = find_form<Function>(name), __ATOMIC_RELAXED);
  return form == nullptr ? nullptr : form(arguments..., std::nothrow_t{});
}

}  // namespace

TARN_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (new_is_ours()) {
    if (void* const block = tarn::allocate(size)) return block;
    if (current_new_handler() == nullptr) return nullptr;
  }
  return call_runtime(&runtime_new, "_ZnwmRKSt9nothrow_t", size);
}

TARN_OPERATOR void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  if (new_array_is_ours()) {
    if (void* const block = tarn::allocate(size)) return block;
    if (current_new_handler() == nullptr) return nullptr;
  }
  return call_runtime(&runtime_new_array, "_ZnamRKSt9nothrow_t", size);
}

TARN_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (new_aligned_is_ours()) {
    if (void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment))) return block;
    if (current_new_handler() == nullptr) return nullptr;
  }
  return call_runtime(&runtime_new_aligned, "_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment);
}

TARN_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (new_array_aligned_is_ours()) {
    if (void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment))) return block;
    if (current_new_handler() == nullptr) return nullptr;
  }
  return call_runtime(&runtime_new_array_aligned, "_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment);
}
