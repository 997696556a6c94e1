// A program of a user that root's tools look at. "busy": it calls malloc until it is killed. "become WORD
// ROOT PAGE PROGRAM [shared]": it has forged the library's descriptor, so that a word that tools write lies
// in a page of its choice, and becomes a set-user program as soon as that is written; with "shared" another
// process keeps its address space, and the pointers that `--stop` writes to lead into the page too.
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "observe/descriptor.h"

namespace {

using tarn::internal::ObserveDescriptor;
using tarn::internal::ObservedField;
using tarn::internal::ObservedRoot;

int find_note(dl_phdr_info* file, std::size_t, void* found) {
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    auto* note = reinterpret_cast<char*>(file->dlpi_addr + segment.p_vaddr);
    for (const char* const end = note + segment.p_filesz; note + sizeof(ElfW(Nhdr)) <= end;) {
      ElfW(Nhdr) head;
      std::memcpy(&head, note, sizeof head);
      char* const name = note + sizeof head;
      char* const contents = name + ((head.n_namesz + 3) & ~3u);
      if (std::string_view(name, head.n_namesz) == std::string_view("tarn\0", 5)) {
        std::int64_t distance;
        std::memcpy(&distance, contents, sizeof distance);
        *static_cast<ObserveDescriptor**>(found) = reinterpret_cast<ObserveDescriptor*>(contents + distance);
        return 1;
      }
      note = contents + ((head.n_descsz + 3) & ~3u);
    }
  }
  return 0;
}

ObserveDescriptor& descriptor() {
  ObserveDescriptor* found = nullptr;
  dl_iterate_phdr(find_note, static_cast<void*>(&found));
  return found != nullptr ? *found : (std::puts("no descriptor"), std::exit(1), *found);
}

std::size_t offset_of(const char* name) {
  for (const ObservedField* field = descriptor().fields;; ++field)
    if (std::strncmp(field->name, name, sizeof field->name) == 0) return field->offset;
}

const void*& address_of_root(const char* name) {
  for (const ObservedRoot* root = descriptor().roots;; ++root)
    if (std::strncmp(root->name, name, sizeof root->name) == 0)
      return const_cast<ObservedRoot*>(root)->address;
}

// The list of threads has one thread: its shown pointer lies in the page; what is written there is not 0.
void forge_shown_pointers(char* page) {
  static char heap[1 << 16];
  static char* first = heap;
  address_of_root("empty_cache") = reinterpret_cast<void*>(0xdeadbeefcafef00d);
  char* const shown = page + 512;
  std::memcpy(heap + offset_of("heap.shown"), &shown, sizeof shown);
  address_of_root("registry") = reinterpret_cast<char*>(&first) - offset_of("registry.first");
}

void keep_address_space() {
  static char stack[1 << 16];
  static std::atomic<bool> ends_with_us{false};
  const auto rest = [](void*) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ends_with_us = true;
    return pause();
  };
  if (clone(rest, stack + sizeof stack, CLONE_VM, nullptr) < 0) std::exit(1);
  while (!ends_with_us) {
  }
}

int become(const char* word, const char* root, const char* place, const char* program, bool is_shared) {
  std::free(std::malloc(100));
  auto* const page = reinterpret_cast<char*>(std::strtoull(place, nullptr, 0));
  if (mmap(page - 4096, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return 1;
  if (is_shared) forge_shown_pointers(page);
  address_of_root(root) = page - offset_of(word);
  std::puts("started");
  std::fflush(stdout);
  const auto* const written = reinterpret_cast<volatile int*>(page);
  while (*written == 0) {
  }
  if (is_shared) keep_address_space();
  execl(program, program, nullptr);
  return 1;
}

[[noreturn]] void be_busy() {
  std::puts("started");
  std::fflush(stdout);
  for (;;) {
    void* volatile block = std::malloc(64);
    std::free(block);
    void* volatile large = std::malloc(1 << 20);  // a slow call, by which a switch is noticed
    std::free(large);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) be_busy();
  return become(words[2], words[3], words[4], words[5], count > 6);
}
