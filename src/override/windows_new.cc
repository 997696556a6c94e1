// operator new and delete where the linker replaces a symbol by taking the first archive that has it: the
// forms that all others call, as libstdc++ has those. So if a program replaces these too, its own serve all.
#include <new>

#include "tarn/memory_pool.h"

namespace {

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  for (;;) {
    if (void* const block = tarn::allocate(size, alignment)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t size) {
  void* const block = tarn::allocate(size);
  return block != nullptr ? block : allocate_or_throw(size, alignof(std::max_align_t));
}

void operator delete(void* block) noexcept { tarn::deallocate(block); }

void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* block, std::align_val_t) noexcept { tarn::deallocate(block); }
