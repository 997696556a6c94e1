// How each form of operator new and delete is exported, and the names by which ours are told from the program's.
#pragma once
#include <cstddef>
#include <new>

/// Weak, as in the C++ runtime's archive: a program linked with libtarn.a may define any of them itself.
#define TARN_OPERATOR [[gnu::visibility("default"), gnu::weak]]

extern "C" {
[[gnu::visibility("hidden")]] void* tarn_own_new(std::size_t size);
[[gnu::visibility("hidden")]] void* tarn_own_new_aligned(std::size_t size, std::align_val_t alignment);
[[gnu::visibility("hidden")]] void* tarn_own_new_array(std::size_t size);
[[gnu::visibility("hidden")]] void* tarn_own_new_array_aligned(std::size_t size, std::align_val_t alignment);
}
