// Writes the memory that a snapshot of a small program needs, with a few blocks in every kind of pool, to the
// file that it is given: small_program.memory, which the tests and the fuzz target damage. It is committed
// here in an archive: `tar -cJf small_program.memory.tar.xz small_program.memory`.
#include <sys/auxv.h>
#include <tarn/buffer_pool.h>
#include <tarn/fixed_pool.h>
#include <tarn/handle_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>
#include <tarn/object_pool.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "observer/recorded_memory.h"
#include "support/heap_with_classes.h"

namespace {

struct Item {
  char text[48];
};

alignas(4096) char buffer[64 * 1024];

template <typename Pool>
void use(Pool& pool, std::size_t largest, int count) {
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i)
    blocks.push_back(pool.allocate(1 + static_cast<std::size_t>(i) * 97 % largest));
  for (std::size_t i = 0; i < blocks.size(); i += 3) pool.deallocate(blocks[i]);
}

void use_general_pool() {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 300; ++i) blocks.push_back(tarn::allocate(i * 11 % 3'000));
  blocks.push_back(tarn::allocate(1 << 20));
  blocks.push_back(tarn::allocate(1 << 19));
  std::thread([&] {
    for (std::size_t i = 0; i < blocks.size(); i += 4) tarn::deallocate(blocks[i]);
  }).join();
  tarn::deallocate(blocks.back());
}

/// The file is for everybody: what lies around the pools on the stack must not tell of who has made it.
void forget(char* text) { std::memset(text, 0, std::strlen(text)); }
void forget_start(int count, char** arguments) {
  for (int i = 0; i < count; ++i) forget(arguments[i]);
  for (char** variable = environ; *variable != nullptr; ++variable) forget(*variable);
  forget(reinterpret_cast<char*>(getauxval(AT_EXECFN)));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: %s FILE\n", arguments[0]), 2;
  const std::string into = arguments[1];
  forget_start(count, arguments);
  use_general_pool();
  tarn::FixedPool fixed({.name = "fixed", .block_bytes = 256});
  tarn::SharedFixedPool shared(64);
  tarn::ObjectPool<Item> objects({.name = "objects", .at_end = tarn::AtPoolEnd::kDestroy});
  tarn::HandlePool<Item> handles({.name = "handles", .at_end = tarn::AtPoolEnd::kDestroy});
  tarn::BufferPool buffers({.largest_bytes = 1024, .at_end = tarn::AtPoolEnd::kDestroy});
  tarn::Heap room({.name = "room", .hard_limit = 1 << 20}), inner({.name = "inner", .parent = &room});
  tarn::test::HeapWithClasses busy({.name = "busy"});
  tarn::Heap in_buffer({.name = "in a buffer", .buffer = buffer, .buffer_bytes = sizeof buffer});
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(fixed.allocate());
    static_cast<void>(shared.allocate());
    static_cast<void>(objects.create());
    static_cast<void>(handles.create());
  }
  use(buffers, 900, 40);
  use(room, 900, 40);
  use(inner, 300, 10);
  use(busy, 3'000, 90);
  use(in_buffer, 900, 20);
  const tarn::test::RecordedMemory memory(*tarn::observer::open_own_process());
  const std::string file = memory.file();
  std::printf("%zu bytes of memory, packed %zu\n", memory.size(), file.size());
  std::ofstream(into, std::ios::binary) << file;
}
