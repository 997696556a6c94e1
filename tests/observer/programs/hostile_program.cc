// A program that harms whoever looks into it, by what it may choose itself. It says "ready" and goes on.
//   hostile_program names    pools and threads with names from support/hostile_names.h
//   hostile_program rings    20,000 rings of recorded calls, which are always full
//   hostile_program reserve  20 TiB that are mapped and never touched
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <tarn/buffer_pool.h>
#include <tarn/fixed_pool.h>
#include <tarn/handle_pool.h>
#include <tarn/heap.h>
#include <tarn/object_pool.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "observe/descriptor.h"
#include "support/hostile_names.h"

namespace {

using tarn::internal::ObserveDescriptor;
using tarn::internal::ObservedField;
using tarn::internal::ObservedRoot;

struct Object {
  long words[6];
};

[[noreturn]] void go_on_calling() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(100 + i));
    usleep(1000);
  }
}

void* live(void* name) {
  pthread_setname_np(pthread_self(), std::string(static_cast<const char*>(name)).substr(0, 15).c_str());
  void* volatile block = std::malloc(64);
  while (block != nullptr) pause();
  return nullptr;
}

void take_names() {
  for (const char* const name : tarn::test::kHostileNames) {
    auto* const fixed = new tarn::FixedPool({.name = name, .block_bytes = 512});
    auto* const heap = new tarn::Heap(tarn::HeapOptions{.name = name});
    auto* const objects = new tarn::ObjectPool<Object>({.name = name});
    auto* const buffers = new tarn::BufferPool({.name = name});
    auto* const handles = new tarn::HandlePool<Object>({.name = name});
    for (int i = 0; i < 50; ++i) {
      static_cast<void>(fixed->allocate());
      static_cast<void>(heap->allocate(100));
      static_cast<void>(objects->create());
      static_cast<void>(buffers->allocate(100));
      static_cast<void>(handles->create());
    }
    pthread_t thread;
    pthread_create(&thread, nullptr, live, const_cast<char*>(name));
  }
}

/// \returns the library's descriptor, by its note.
ObserveDescriptor* descriptor() {
  ObserveDescriptor* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* result) {
        for (int i = 0; i < file->dlpi_phnum; ++i) {
          if (file->dlpi_phdr[i].p_type != PT_NOTE) continue;
          char* at = reinterpret_cast<char*>(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
          for (char* const end = at + file->dlpi_phdr[i].p_filesz; at + sizeof(Elf64_Nhdr) < end;) {
            const auto* const note = reinterpret_cast<Elf64_Nhdr*>(at);
            char* const contents = at + sizeof *note + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == ObserveDescriptor::kNoteType &&
                std::string_view(at + sizeof *note) == ObserveDescriptor::kNoteName) {
              std::int64_t distance = 0;
              std::memcpy(&distance, contents, sizeof distance);
              *static_cast<void**>(result) = contents + distance;
              return 1;
            }
            at = contents + ((note->n_descsz + 3) & ~3u);
          }
        }
        return 0;
      },
      &found);
  return found;
}

ObservedField& field(const char* name) {
  ObserveDescriptor* const all = descriptor();
  auto* const fields = const_cast<ObservedField*>(all->fields);
  for (std::uint32_t i = 0; i < all->field_count; ++i)
    if (std::strncmp(fields[i].name, name, sizeof fields[i].name) == 0) return fields[i];
  std::abort();
}

void forge_root(const char* name, const void* address) {
  ObserveDescriptor* const all = descriptor();
  auto* const roots = const_cast<ObservedRoot*>(all->roots);
  for (std::uint32_t i = 0; i < all->root_count; ++i)
    if (std::strncmp(roots[i].name, name, sizeof roots[i].name) == 0) roots[i].address = address;
}

/// Heaps that lie at nothing but a ring and the next heap; all rings have one array of events.
[[noreturn]] void forge_rings() {
  constexpr std::size_t kRings = 20'000, kRoom = 1 << 18, kHeapBytes = 128;
  struct Ring {
    char* events;
    std::uint64_t written, fetched, lost;
  };
  auto* const events = static_cast<char*>(
      mmap(nullptr, kRoom * 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto* const heaps = static_cast<char*>(
      mmap(nullptr, kRings * kHeapBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::uint32_t word = 1;
  for (std::size_t at = 0; at < kRoom * 16; at += sizeof word) {
    word = word * 1664525 + 1013904223;
    std::memcpy(events + at, &word, sizeof word);
  }
  field("call_ring.room").offset = kRoom;
  field("call_ring").size = sizeof(Ring);
  field("call_ring.events").offset = offsetof(Ring, events);
  field("call_ring.written").offset = offsetof(Ring, written);
  field("call_ring.fetched").offset = offsetof(Ring, fetched);
  field("call_ring.lost").offset = offsetof(Ring, lost);
  field("heap.calls_made").offset = 0;
  field("heap.next").offset = sizeof(Ring);
  for (std::size_t i = 0; i < kRings; ++i) {
    char* const heap = heaps + i * kHeapBytes;
    const Ring ring = {events, kRoom, 0, 0};
    std::memcpy(heap, &ring, sizeof ring);
    char* const next = i + 1 < kRings ? heap + kHeapBytes : nullptr;
    std::memcpy(heap + sizeof ring, &next, sizeof next);
  }
  static char* first = heaps;
  forge_root("registry", reinterpret_cast<char*>(&first) - field("registry.first").offset);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    for (std::size_t i = 0; i < kRings; ++i) {
      auto* const ring = reinterpret_cast<volatile Ring*>(heaps + i * kHeapBytes);
      ring->written = ring->fetched + kRoom;
    }
    std::free(std::malloc(50));
    usleep(1000);
  }
}

}  // namespace

int main(int count, char** words) {
  static_cast<void>(count);
  const std::string_view harm = words[1];
  if (harm == "rings") forge_rings();
  if (harm == "names") take_names();
  if (harm == "reserve" && mmap(nullptr, std::size_t{20} << 40, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    return 1;
  go_on_calling();
}
