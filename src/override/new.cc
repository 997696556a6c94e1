// Every form of operator new and delete. Compiled without exceptions and linked without the C++ runtime: what throws is
// the runtime of the program, found when it is needed; a program without one cannot have called new.
#include <dlfcn.h>  // dlopen and dlsym are weak: a static program has none, and none is pulled in

#include <cstdlib>
#include <new>

#include "os/fatal.h"
#include "tarn/memory_pool.h"

#define TARN_EXPORT [[gnu::visibility("default")]]

#pragma weak dlopen
#pragma weak dlsym

namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
[[noreturn, gnu::weak]] void __throw_bad_alloc();
}  // namespace std

namespace {

constexpr std::size_t kDefaultAlignment = 1;
constexpr std::nothrow_t kNothrow{};  // std::nothrow is the runtime's

using ThrowBadAlloc = void (*)();
using GetNewHandler = std::new_handler (*)();

// A runtime that came by dlopen was not there when this library was linked.
template <typename Function>
Function find_in_runtime(Function linked, const char* name) {
  if (linked != nullptr || &dlopen == nullptr) return linked;
  void* const runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return runtime == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(runtime, name));
}

std::new_handler current_new_handler() {
  GetNewHandler const get = find_in_runtime<GetNewHandler>(&std::get_new_handler, "_ZSt15get_new_handlerv");
  return get == nullptr ? nullptr : get();
}

[[noreturn]] void throw_bad_alloc() {
  if (ThrowBadAlloc const thrower = find_in_runtime<ThrowBadAlloc>(&std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv"))
    thrower();
  tarn::internal::os::fatal("out of memory in operator new, and no C++ runtime to throw bad_alloc");
}

[[gnu::cold, gnu::noinline]] void* new_slow(std::size_t size, std::size_t alignment) {
  for (;;) {
    const std::new_handler handler = current_new_handler();
    if (handler == nullptr) throw_bad_alloc();
    handler();
    if (void* const block = tarn::allocate(size, alignment)) return block;
  }
}

using NothrowNew = void* (*)(std::size_t, const std::nothrow_t&);
using AlignedNothrowNew = void* (*)(std::size_t, std::align_val_t, const std::nothrow_t&);

// A handler may throw, and the nothrow forms must turn that into nullptr. Nothing here can catch, so the runtime's own
// nothrow form does it, around the throwing form above. A static program has only ours: there the handler must not throw.
[[gnu::cold, gnu::noinline]] void* new_nothrow_slow(std::size_t size, std::size_t alignment) noexcept {
  if (current_new_handler() == nullptr) return nullptr;
  if (alignment == kDefaultAlignment) {
    NothrowNew const runtime_new = find_in_runtime<NothrowNew>(nullptr, "_ZnwmRKSt9nothrow_t");
    if (runtime_new != nullptr) return runtime_new(size, kNothrow);
  } else {
    AlignedNothrowNew const runtime_new =
        find_in_runtime<AlignedNothrowNew>(nullptr, "_ZnwmSt11align_val_tRKSt9nothrow_t");
    if (runtime_new != nullptr) return runtime_new(size, std::align_val_t{alignment}, kNothrow);
  }
  while (const std::new_handler handler = current_new_handler()) {
    handler();
    if (void* const block = tarn::allocate(size, alignment)) return block;
  }
  return nullptr;
}

TARN_INLINE void* new_block(std::size_t size) {
  void* const block = tarn::allocate(size);
  return block != nullptr ? block : new_slow(size, kDefaultAlignment);
}
TARN_INLINE void* new_block_nothrow(std::size_t size) noexcept {
  void* const block = tarn::allocate(size);
  return block != nullptr ? block : new_nothrow_slow(size, kDefaultAlignment);
}
TARN_INLINE void* new_aligned(std::size_t size, std::align_val_t alignment) {
  void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment));
  return block != nullptr ? block : new_slow(size, static_cast<std::size_t>(alignment));
}
TARN_INLINE void* new_aligned_nothrow(std::size_t size, std::align_val_t alignment) noexcept {
  void* const block = tarn::allocate(size, static_cast<std::size_t>(alignment));
  return block != nullptr ? block : new_nothrow_slow(size, static_cast<std::size_t>(alignment));
}

}  // namespace

TARN_EXPORT void* operator new(std::size_t size) { return new_block(size); }
TARN_EXPORT void* operator new[](std::size_t size) { return new_block(size); }
TARN_EXPORT void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return new_block_nothrow(size); }
TARN_EXPORT void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return new_block_nothrow(size); }
TARN_EXPORT void* operator new(std::size_t size, std::align_val_t alignment) { return new_aligned(size, alignment); }
TARN_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment) { return new_aligned(size, alignment); }
TARN_EXPORT void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return new_aligned_nothrow(size, alignment);
}
TARN_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return new_aligned_nothrow(size, alignment);
}

// The size that delete is told is not believed: a base class without a virtual destructor gets it wrong.
TARN_EXPORT void operator delete(void* block) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete[](void* block) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete(void* block, std::size_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete[](void* block, std::size_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete(void* block, const std::nothrow_t&) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete[](void* block, const std::nothrow_t&) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete(void* block, std::align_val_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete[](void* block, std::align_val_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete(void* block, std::size_t, std::align_val_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { tarn::deallocate(block); }
TARN_EXPORT void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  tarn::deallocate(block);
}
TARN_EXPORT void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  tarn::deallocate(block);
}
