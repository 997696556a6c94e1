#include "os/process/kept_by_runtimes.h"

#include <link.h>
#include <stdio.h>

#include <cstdint>

#include "base/units.h"

namespace __gnu_cxx {
[[gnu::weak]] void __freeres();  // of libstdc++, where the process has it
}

// What stdin, stdout and stderr are at first; a program may assign others to these.
extern "C" {
[[gnu::weak]] extern FILE _IO_2_1_stdin_, _IO_2_1_stdout_, _IO_2_1_stderr_;
}

namespace tarn::internal::os {
namespace {

struct Visitor {
  void (*visit)(const void* word, void* context);
  void* context;

  void operator()(const void* word) const { visit(word, context); }
};

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

bool is_in(const ElfW(Phdr) & part, const dl_phdr_info& file, std::uintptr_t address) {
  return part.p_type == PT_LOAD && address - file.dlpi_addr - part.p_vaddr < part.p_memsz;
}

void visit_words(const ElfW(Phdr) & part, const dl_phdr_info& file, Visitor visit) {
  const auto* const words =
      reinterpret_cast<const void* const*>(round_up(file.dlpi_addr + part.p_vaddr, sizeof(void*)));
  for (std::size_t i = 0; i + 1 < part.p_memsz / sizeof(void*); ++i) visit(words[i]);
}

// Where libstdc++ is linked into the program, its data lie among those of the program: these are not read.
int visit_if_libstdcxx(dl_phdr_info* file, std::size_t, void* visitor) {
  if (file->dlpi_name == nullptr || file->dlpi_name[0] == '\0') return 0;
  bool is_libstdcxx = false;
  for (int i = 0; i < file->dlpi_phnum; ++i)
    is_libstdcxx |= is_in(file->dlpi_phdr[i], *file, reinterpret_cast<std::uintptr_t>(&__gnu_cxx::__freeres));
  if (!is_libstdcxx) return 0;
  for (int i = 0; i < file->dlpi_phnum; ++i)
    if (const ElfW(Phdr)& part = file->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
      visit_words(part, *file, *static_cast<Visitor*>(visitor));
  return 1;
}

}  // namespace

void visit_kept_by_runtimes(void (*visit)(const void* word, void* context), void* context) {
  Visitor visitor{visit, context};
  visit_stream_buffers(visitor);
  if (&__gnu_cxx::__freeres != nullptr) dl_iterate_phdr(visit_if_libstdcxx, &visitor);
}

}  // namespace tarn::internal::os
