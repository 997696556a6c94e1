// The forms of operator new and delete, except the nothrow news (new_nothrow.cc). Compiled without exceptions
// and linked without the C++ runtime: the program's runtime throws; a program without a runtime cannot have
// called new.
//
// Each form but the four basic ones calls the next simpler one, as the C++ standard requires. So if a program
// replaces only the basic forms, all its blocks come from its forms and go back to them. The symbol table
// binds these calls to the program's form or to ours.
//
// The frequent derived forms try the thread's cache first, like the basic ones, but through a pointer of
// their own (derived_cache). In a program with its own basic forms it always leads to the empty cache, so
// that each call comes to the slow door; elsewhere a hit costs as much as a basic form's.
// docs/decisions/006-derived-operators.md compares the alternatives.
//
// delete ignores the size it is told: a base class without a virtual destructor passes a wrong one.
#include "os/fatal.h"
#include "override/operators.h"
#include "override/runtime.h"
#include "tarn/memory_pool.h"
#include "thread/this_thread.h"

// Our forms, also when the program has its own.
extern "C" {
[[gnu::alias("_Znwm"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_new(std::size_t);
[[gnu::alias("_Znam"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_new_array(std::size_t);
[[gnu::alias("_ZnwmSt11align_val_t"), gnu::malloc,
  gnu::alloc_size(1)]] void* tarn_new_aligned(std::size_t, std::align_val_t);
[[gnu::alias("_ZnamSt11align_val_t"), gnu::malloc,
  gnu::alloc_size(1)]] void* tarn_new_array_aligned(std::size_t, std::align_val_t);
[[gnu::alias("_ZdlPv")]] void tarn_delete(void*) noexcept;
[[gnu::alias("_ZdaPv")]] void tarn_delete_array(void*) noexcept;
[[gnu::alias("_ZdlPvSt11align_val_t")]] void tarn_delete_aligned(void*, std::align_val_t) noexcept;
[[gnu::alias("_ZdaPvSt11align_val_t")]] void tarn_delete_array_aligned(void*, std::align_val_t) noexcept;
}

namespace {

using namespace tarn::internal;
using tarn::detail::allocate_from, tarn::detail::deallocate_to;

// \why opaque: the compiler takes two names for two functions.
template <typename Function>
bool is_same(Function current, Function own) {
  asm("" : "+r"(own));
  return current == own;
}

bool plain_forms_are_ours() {
  using New = void* (*)(std::size_t);
  using Delete = void (*)(void*) noexcept;
  return is_same<New>(&::operator new, tarn_new) && is_same<New>(&::operator new[], tarn_new_array) &&
         is_same<Delete>(&::operator delete, tarn_delete) &&
         is_same<Delete>(&::operator delete[], tarn_delete_array);
}

bool aligned_forms_are_ours() {
  using New = void* (*)(std::size_t, std::align_val_t);
  using Delete = void (*)(void*, std::align_val_t) noexcept;
  return is_same<New>(&::operator new, tarn_new_aligned) &&
         is_same<New>(&::operator new[], tarn_new_array_aligned) &&
         is_same<Delete>(&::operator delete, tarn_delete_aligned) &&
         is_same<Delete>(&::operator delete[], tarn_delete_array_aligned);
}

[[noreturn]] void throw_bad_alloc() {
  using ThrowBadAlloc = void (*)();
  if (ThrowBadAlloc const thrower =
          find_in_runtime<ThrowBadAlloc>(&std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv"))
    thrower();
  os::fatal("out of memory in operator new, and no C++ runtime to throw bad_alloc");
}

[[gnu::cold, gnu::noinline]] void* new_slow(std::size_t size, std::size_t alignment) {
  for (;;) {
    const std::new_handler handler = current_new_handler();
    if (handler == nullptr) throw_bad_alloc();
    handler();
    if (void* const block = tarn::allocate(size, alignment)) return block;
  }
}

}  // namespace

TARN_OPERATOR void* operator new(std::size_t size) {
  void* const block = tarn::allocate(size);
  return block != nullptr ? block : new_slow(size, kDefaultAlignment);
}

TARN_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment));
  return block != nullptr ? block : new_slow(size, static_cast<std::size_t>(alignment));
}

TARN_OPERATOR void operator delete(void* block) noexcept { tarn::deallocate(block); }

TARN_OPERATOR void operator delete(void* block, std::align_val_t) noexcept { tarn::deallocate(block); }

bool tarn::internal::derived_forms_may_hit() {
  if (!plain_forms_are_ours() || !aligned_forms_are_ours()) return false;
  show_records_to_derived_forms();
  return true;
}

namespace {

// Where the thread's records are hidden, as while a profile is on, each call comes here.
void show_records_if_forms_are_ours() {
  if (tarn::detail::own_cache() != &tarn::detail::empty_cache.cache) derived_forms_may_hit();
}

// The slow doors of the derived forms: they call the next simpler form, the program's or ours.
[[gnu::noinline]] void* new_array_slow(std::size_t size) {
  show_records_if_forms_are_ours();
  return ::operator new(size);
}

template <typename... Alignment>
[[gnu::noinline]] void delete_slow(void* block, Alignment... alignment) {
  show_records_if_forms_are_ours();
  ::operator delete(block, alignment...);
}

template <typename... Alignment>
[[gnu::noinline]] void delete_array_slow(void* block, Alignment... alignment) {
  show_records_if_forms_are_ours();
  ::operator delete[](block, alignment...);
}

TARN_INLINE void delete_derived(void* block) {
  deallocate_to<delete_slow<>>(load_cache(TARN_OF_THREAD(derived_cache)), block);
}
TARN_INLINE void delete_derived(void* block, std::align_val_t alignment) {
  deallocate_to<delete_slow<std::align_val_t>>(load_cache(TARN_OF_THREAD(derived_cache)), block, alignment);
}
TARN_INLINE void delete_derived_array(void* block) {
  deallocate_to<delete_array_slow<>>(load_cache(TARN_OF_THREAD(derived_cache)), block);
}
TARN_INLINE void delete_derived_array(void* block, std::align_val_t alignment) {
  deallocate_to<delete_array_slow<std::align_val_t>>(load_cache(TARN_OF_THREAD(derived_cache)), block,
                                                     alignment);
}

}  // namespace

TARN_OPERATOR void* operator new[](std::size_t size) {
  return allocate_from<new_array_slow>(TARN_OF_THREAD(derived_cache), size);
}
TARN_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment) {
  return ::operator new(size, alignment);
}

TARN_OPERATOR void operator delete[](void* block) noexcept { delete_derived(block); }
TARN_OPERATOR void operator delete(void* block, std::size_t) noexcept { delete_derived(block); }
TARN_OPERATOR void operator delete[](void* block, std::size_t) noexcept { delete_derived_array(block); }
TARN_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept { delete_derived(block); }
TARN_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept {
  delete_derived_array(block);
}

TARN_OPERATOR void operator delete[](void* block, std::align_val_t alignment) noexcept {
  delete_derived(block, alignment);
}
TARN_OPERATOR void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
  delete_derived(block, alignment);
}
TARN_OPERATOR void operator delete[](void* block, std::size_t, std::align_val_t alignment) noexcept {
  delete_derived_array(block, alignment);
}
TARN_OPERATOR void operator delete(void* block, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  delete_derived(block, alignment);
}
TARN_OPERATOR void operator delete[](void* block, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  delete_derived_array(block, alignment);
}
