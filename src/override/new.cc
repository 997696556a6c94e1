// The forms of operator new and delete but for the nothrow news (new_nothrow.cc). Compiled without exceptions and linked
// without the C++ runtime: what throws is the runtime of the program; a program without one cannot have called new.
//
// Each form but the four basic ones calls the next simpler one, as the C++ standard has it, so that a program which
// replaces the basic forms alone gets all its blocks from there and back. One jump through the symbol table, which is
// bound to the program's form or to ours (replaceable.list); docs/decisions/006-derived-operators.md has its cost.
//
// The size that delete is told is not believed: a base class without a virtual destructor gets it wrong.
#include "os/fatal.h"
#include "override/operators.h"
#include "override/runtime.h"
#include "tarn/memory_pool.h"

namespace {

using namespace tarn::internal;

[[noreturn]] void throw_bad_alloc() {
  using ThrowBadAlloc = void (*)();
  if (ThrowBadAlloc const thrower = find_in_runtime<ThrowBadAlloc>(&std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv"))
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

TARN_OPERATOR void* operator new[](std::size_t size) { return ::operator new(size); }
TARN_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment) {
  return ::operator new(size, alignment);
}

TARN_OPERATOR void operator delete[](void* block) noexcept { ::operator delete(block); }
TARN_OPERATOR void operator delete(void* block, std::size_t) noexcept { ::operator delete(block); }
TARN_OPERATOR void operator delete[](void* block, std::size_t) noexcept { ::operator delete[](block); }
TARN_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept { ::operator delete(block); }
TARN_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept { ::operator delete[](block); }

TARN_OPERATOR void operator delete[](void* block, std::align_val_t alignment) noexcept {
  ::operator delete(block, alignment);
}
TARN_OPERATOR void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
  ::operator delete(block, alignment);
}
TARN_OPERATOR void operator delete[](void* block, std::size_t, std::align_val_t alignment) noexcept {
  ::operator delete[](block, alignment);
}
TARN_OPERATOR void operator delete(void* block, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  ::operator delete(block, alignment);
}
TARN_OPERATOR void operator delete[](void* block, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  ::operator delete[](block, alignment);
}

extern "C" {
[[gnu::alias("_Znwm"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_own_new(std::size_t);
[[gnu::alias("_ZnwmSt11align_val_t"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_own_new_aligned(std::size_t,
                                                                                               std::align_val_t);
[[gnu::alias("_Znam"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_own_new_array(std::size_t);
[[gnu::alias("_ZnamSt11align_val_t"), gnu::malloc, gnu::alloc_size(1)]] void* tarn_own_new_array_aligned(
    std::size_t, std::align_val_t);
}
