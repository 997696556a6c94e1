// Loses 100 blocks of one kind and keeps 50, some of them behind each other and by their insides. The kind is
// the first argument; a second is the status to end with.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

// Names that suppressions may have.
extern "C" [[gnu::noinline]] void* make_lost_block() {
  void* const block = std::malloc(72);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
extern "C" [[gnu::noinline]] void* make_lost_arena() {
  auto* const arena = new tarn::Arena("lost");
  asm volatile("" : : "r"(arena) : "memory");
  return arena;
}

namespace {

constexpr int kLost = 100, kKept = 50;

// What is kept hangs on this: a chain through the first word of each block, to the inside of the next.
void* kept;

void keep(void* block) {
  std::memcpy(block, &kept, sizeof kept);
  kept = static_cast<char*>(block) + 8;
}

struct Quest {
  void* next = nullptr;
  char text[64];
};

/// Calls make() for each block. What is lost points to what was lost before: nothing of it is reached.
template <typename Make>
[[gnu::noinline]] void lose(Make make) {
  void* before = nullptr;
  for (int i = 0; i < kLost; ++i) {
    void* const block = make();
    std::memcpy(block, &before, sizeof before);
    before = i % 10 == 9 ? nullptr : block;
  }
  asm volatile("" : : "r"(&before) : "memory");
}

template <typename Make>
void lose_and_keep(Make make) {
  lose(make);
  for (int i = 0; i < kKept; ++i) keep(make());
}

// Programs make their pools like this, and never end them.
template <typename Pool, typename... Options>
Pool& lasting(Options&&... options) {
  static Pool& pool = *new Pool(std::forward<Options>(options)...);
  return pool;
}

alignas(65536) char buffer[1 << 20];

struct Kind {
  const char* name;
  void (*run)();
};

constexpr Kind kKinds[] = {
    {"malloc", [] { lose_and_keep(make_lost_block); }},
    {"new", [] { lose_and_keep([] { return static_cast<void*>(new Quest); }); }},
    {"allocate", [] { lose_and_keep([] { return tarn::allocate(3000); }); }},
    {"aligned", [] { lose_and_keep([] { return tarn::allocate(500, 256); }); }},
    {"zeroed", [] { lose_and_keep([] { return tarn::allocate_zeroed(10, 20); }); }},
    {"reallocated", [] { lose_and_keep([] { return std::realloc(std::malloc(10), 400); }); }},
    {"large", [] { lose_and_keep([] { return std::malloc(300'000); }); }},
    {"large_reallocated", [] { lose_and_keep([] { return std::realloc(std::malloc(300'000), 900'000); }); }},
    {"object_pool",
     [] { lose_and_keep([] { return static_cast<void*>(lasting<tarn::ObjectPool<Quest>>().create()); }); }},
    {"fixed_pool", [] { lose_and_keep([] { return lasting<tarn::FixedPool>(200).allocate(); }); }},
    {"runs", [] { lose_and_keep([] { return lasting<tarn::FixedPool>(64).allocate_run(3); }); }},
    {"shared_fixed_pool",
     [] { lose_and_keep([] { return lasting<tarn::SharedFixedPool>(200).allocate(); }); }},
    {"buffer_pool", [] { lose_and_keep([] { return lasting<tarn::BufferPool>().allocate(1000); }); }},
    {"above_buffer_pool",
     [] { lose_and_keep([] { return lasting<tarn::BufferPool>().allocate(1 << 20); }); }},
    {"heap", [] { lose_and_keep([] { return lasting<tarn::Heap>("plugin").allocate(120); }); }},
    {"sensitive_heap",
     [] {
       lose_and_keep([] {
         return lasting<tarn::Heap>(tarn::HeapOptions{.name = "keys", .sensitive = true}).allocate(120);
       });
     }},
    {"heap_in_a_buffer",
     [] {
       lose_and_keep([] {
         return lasting<tarn::Heap>(
                    tarn::HeapOptions{.name = "mapped", .buffer = buffer, .buffer_bytes = sizeof buffer})
             .allocate(500);
       });
     }},
    {"scope",
     [] {
       tarn::HeapScope scope(lasting<tarn::Heap>("scope"));
       lose_and_keep([] { return std::malloc(64); });
     }},
    {"handle_pool",
     [] {  // no pointer needs to name an object
       auto& quests = lasting<tarn::HandlePool<Quest>>();
       lose([&] { return static_cast<void*>(&quests.at(quests.create())); });
       auto& only = quests.at(quests.create());
       only.next = std::malloc(77);  // only a handle leads to it
     }},
    {"arena",
     [] {
       lose([] {
         void* const arena = make_lost_arena();
         static_cast<void>(static_cast<tarn::Arena*>(arena)->allocate(5000));
         return arena;
       });
       auto* const arena = new tarn::Arena("kept");
       keep(arena);
       auto** const inside = static_cast<void**>(arena->allocate(100));
       *inside = std::malloc(77);
     }},
    {"nothing",
     [] {
       for (int i = 0; i < kKept; ++i) keep(std::malloc(100));
     }},
};

[[gnu::noinline]] void clear_stack() {
  char bytes[32 * 1024];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

}  // namespace

int main(int count, char** words) {
  for (const Kind& kind : kKinds)
    if (count > 1 && kind.name == std::string_view(words[1])) {
      kind.run();
      clear_stack();
      std::printf("done");  // written by libc when the process ends
      return count > 2 ? std::atoi(words[2]) : 0;
    }
  std::puts("no such kind");
  return 99;
}
