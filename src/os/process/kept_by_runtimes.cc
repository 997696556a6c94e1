#include "os/process/kept_by_runtimes.h"

#include <link.h>
#include <stdio.h>

#include <cstring>

#include "base/units.h"

// Where FILE is known: glibc from 2.28 on.
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 28)
#define TARN_KNOWS_STREAMS
#endif
#endif

#if defined(TARN_KNOWS_STREAMS)
// What stdin, stdout and stderr are at first; a program may assign others to these.
extern "C" {
[[gnu::weak]] extern FILE _IO_2_1_stdin_, _IO_2_1_stdout_, _IO_2_1_stderr_;
}
#endif

namespace tarn::internal::os {
namespace {

struct Visitor {
  void (*visit)(const void* word, void* context);
  void* context;

  void operator()(const void* word) const { visit(word, context); }
};

#if defined(TARN_KNOWS_STREAMS)
constexpr int kUserBuffer = 1;         // of FILE's flags: setvbuf() has given the buffer
constexpr unsigned kWideBufferAt = 6;  // of the pointers that a wide stream's data begin with
// Source of both: libio of glibc, libio.h.

void visit_buffers(const FILE& stream, Visitor visit) {
  if ((stream._flags & kUserBuffer) == 0) visit(stream._IO_buf_base);
  if (stream._wide_data != nullptr)
    visit(reinterpret_cast<const void* const*>(stream._wide_data)[kWideBufferAt]);
}

void visit_stream_buffers(Visitor visit) {
  const FILE* const streams[] = {&_IO_2_1_stdin_, &_IO_2_1_stdout_, &_IO_2_1_stderr_};
  for (const FILE* const stream : streams)
    if (stream != nullptr) visit_buffers(*stream, visit);
}
#else
void visit_stream_buffers(Visitor) {}
#endif

void visit_words(const ElfW(Phdr) & part, const dl_phdr_info& file, Visitor visit) {
  const auto* const words =
      reinterpret_cast<const void* const*>(round_up(file.dlpi_addr + part.p_vaddr, sizeof(void*)));
  for (std::size_t i = 0; i + 1 < part.p_memsz / sizeof(void*); ++i) visit(words[i]);
}

bool is_libstdcxx(const char* path) {
  if (path == nullptr) return false;
  const char* const slash = std::strrchr(path, '/');
  constexpr char kName[] = "libstdc++.so";
  return std::strncmp(slash != nullptr ? slash + 1 : path, kName, sizeof kName - 1) == 0;
}

// Where libstdc++ is linked into the program, its data lie among those of the program: these are not read.
int visit_if_libstdcxx(dl_phdr_info* file, std::size_t, void* visitor) {
  if (!is_libstdcxx(file->dlpi_name)) return 0;
  for (int i = 0; i < file->dlpi_phnum; ++i)
    if (const ElfW(Phdr)& part = file->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
      visit_words(part, *file, *static_cast<Visitor*>(visitor));
  return 1;
}

}  // namespace

void visit_kept_by_runtimes(void (*visit)(const void* word, void* context), void* context) {
  Visitor visitor{visit, context};
  visit_stream_buffers(visitor);
  dl_iterate_phdr(visit_if_libstdcxx, &visitor);
}

}  // namespace tarn::internal::os
