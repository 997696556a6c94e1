// Calls each derived form of operator new and delete, in a program whose basic forms are its own
// (own_operators.cc) or come from a library that is preloaded before ours. Ends with 1 where a form did not
// come to them.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "own_operators.h"

namespace {

constexpr std::align_val_t kAlign{128};
constexpr std::size_t kSize = 200;

OwnCounts* counts;
void (*let_throw)(int);
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", what);
}

/// Runs one form of new and one of delete. Both must have come to the program's basic forms, once.
template <typename New, typename Delete>
void pair(const char* name, long OwnCounts::*news, long OwnCounts::*deletes, New allocate,
          Delete deallocate) {
  const OwnCounts before = *counts;
  void* const block = allocate();
  std::memset(block, 7, kSize);
  deallocate(block);
  expect(counts->*news == before.*news + 1 && counts->*deletes == before.*deletes + 1, name);
}

void plain_forms() {
  const auto plain = [](const char* name, auto allocate, auto deallocate) {
    pair(name, &OwnCounts::news, &OwnCounts::deletes, allocate, deallocate);
  };
  const auto basic_new = [] { return ::operator new(kSize); };
  const auto basic_delete = [](void* block) { ::operator delete(block); };
  plain("delete with a size", basic_new, [](void* block) { ::operator delete(block, kSize); });
  plain("delete of a failed nothrow new", basic_new,
        [](void* block) { ::operator delete(block, std::nothrow); });
  plain("delete[]", basic_new, [](void* block) { ::operator delete[](block); });
  plain("delete[] with a size", basic_new, [](void* block) { ::operator delete[](block, kSize); });
  plain("delete[] of a failed nothrow new", basic_new,
        [](void* block) { ::operator delete[](block, std::nothrow); });
  plain(
      "new[]", [] { return ::operator new[](kSize); }, basic_delete);
  plain(
      "nothrow new", [] { return ::operator new(kSize, std::nothrow); }, basic_delete);
  plain(
      "nothrow new[]", [] { return ::operator new[](kSize, std::nothrow); }, basic_delete);
}

void aligned_forms() {
  const auto aligned = [](const char* name, auto allocate, auto deallocate) {
    pair(name, &OwnCounts::aligned_news, &OwnCounts::aligned_deletes, allocate, deallocate);
  };
  const auto basic_new = [] { return ::operator new(kSize, kAlign); };
  const auto basic_delete = [](void* block) { ::operator delete(block, kAlign); };
  aligned("aligned delete with a size", basic_new,
          [](void* block) { ::operator delete(block, kSize, kAlign); });
  aligned("aligned delete of a failed nothrow new", basic_new,
          [](void* block) { ::operator delete(block, kAlign, std::nothrow); });
  aligned("aligned delete[]", basic_new, [](void* block) { ::operator delete[](block, kAlign); });
  aligned("aligned delete[] with a size", basic_new,
          [](void* block) { ::operator delete[](block, kSize, kAlign); });
  aligned("aligned delete[] of a failed nothrow new", basic_new,
          [](void* block) { ::operator delete[](block, kAlign, std::nothrow); });
  aligned(
      "aligned new[]", [] { return ::operator new[](kSize, kAlign); }, basic_delete);
  aligned(
      "aligned nothrow new", [] { return ::operator new(kSize, kAlign, std::nothrow); }, basic_delete);
  aligned(
      "aligned nothrow new[]", [] { return ::operator new[](kSize, kAlign, std::nothrow); }, basic_delete);
}

template <typename New>
bool throws(New allocate) {
  try {
    ::operator delete(allocate());
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

void throwing_operators() {
  let_throw(1);
  expect(::operator new(kSize, std::nothrow) == nullptr, "nothrow new catches");
  expect(::operator new[](kSize, std::nothrow) == nullptr, "nothrow new[] catches");
  expect(::operator new(kSize, kAlign, std::nothrow) == nullptr, "aligned nothrow new catches");
  expect(::operator new[](kSize, kAlign, std::nothrow) == nullptr, "aligned nothrow new[] catches");
  expect(throws([] { return ::operator new[](kSize); }), "new[] lets bad_alloc through");
  expect(throws([] { return ::operator new[](kSize, kAlign); }), "aligned new[] lets bad_alloc through");
  let_throw(0);
}

bool find_operators() {
#ifdef OWN_OPERATORS_ARE_PRELOADED
  const auto get_counts = reinterpret_cast<OwnCounts* (*)()>(dlsym(RTLD_DEFAULT, "own_operator_counts"));
  let_throw = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "let_own_operators_throw"));
  if (get_counts == nullptr || let_throw == nullptr) return false;
  counts = get_counts();
#else
  counts = own_operator_counts();
  let_throw = let_own_operators_throw;
#endif
  return true;
}

}  // namespace

int main() {
  if (!find_operators()) return 2;
  plain_forms();
  aligned_forms();
  throwing_operators();
  expect(counts->foreign_blocks == 0, "delete got blocks of this program's new alone");
  if (failures == 0) std::puts("every form came to the program's own");
  return failures != 0;
}
