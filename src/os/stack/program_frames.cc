// The functions of a program that is linked statically: linkers leave out the sorted list of them
// (.eh_frame_hdr) there, and no loader knows where .eh_frame is.
//
// The idea: the headers of the program's file say where the section lies in memory; its functions are listed
// and sorted once, when a stack is first taken. Where the file cannot be read, no function is known.
// Threads: any; whoever comes while the list is made makes one too, and one of them is kept.
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/units.h"
#include "os/memory/mapped_array.h"
#include "os/process/process.h"
#include "os/stack/eh_frame.h"
#include "os/syscall.h"

// The linker's: the start of the program's file as it lies in memory.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace tarn::internal::os {
namespace {

constexpr std::size_t kMostSections = 4096, kMostNameBytes = 64 * 1024;

struct Section {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
};

using FileHead = ElfW(Ehdr);

bool has_usable_sections(const FileHead& head) {
  return head.e_shentsize == sizeof(ElfW(Shdr)) && head.e_shnum <= kMostSections &&
         head.e_shstrndx < head.e_shnum;
}

class ProgramFile {
 public:
  ProgramFile()
      : descriptor_(syscall6(SYS_openat, AT_FDCWD, to_long("/proc/self/exe"), O_RDONLY | O_CLOEXEC)) {}
  ~ProgramFile() {
    if (descriptor_ >= 0) close_file(static_cast<int>(descriptor_));
  }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  /// \returns where .eh_frame lies in memory; nothing when the file does not say.
  Section eh_frame() const {
    FileHead head{};
    if (!read(0, &head, sizeof head) || !has_usable_sections(head)) return {};
    MappedArray<ElfW(Shdr)> sections;
    MappedArray<char> names;
    if (!sections.reserve(head.e_shnum) || !names.reserve(kMostNameBytes)) return {};
    if (!read(head.e_shoff, sections.begin(), head.e_shnum * sizeof(ElfW(Shdr)))) return {};
    const ElfW(Shdr)& named = sections[head.e_shstrndx];
    if (!read(named.sh_offset, names.begin(), std::min<std::size_t>(named.sh_size, kMostNameBytes - 1)))
      return {};
    const std::uintptr_t bias = head.e_type == ET_DYN ? address_of(&__ehdr_start) : 0;
    for (unsigned i = 0; i < head.e_shnum; ++i)
      if (sections[i].sh_name < kMostNameBytes &&
          std::strcmp(names.begin() + sections[i].sh_name, ".eh_frame") == 0)
        return {sections[i].sh_addr + bias, sections[i].sh_size};
    return {};
  }

 private:
  bool read(std::uint64_t offset, void* into, std::size_t bytes) const {
    const long count =
        syscall6(SYS_pread64, descriptor_, to_long(into), to_long(bytes), static_cast<long>(offset));
    return count == to_long(bytes);
  }

  long descriptor_;
};

/// By their starts.
struct Functions {
  std::size_t count;
  FunctionFrames first[1];  // `count` of them

  const FunctionFrames* find(std::uintptr_t address) const {
    const FunctionFrames* const behind =
        std::upper_bound(first, first + count, address,
                         [](std::uintptr_t a, const FunctionFrames& function) { return a < function.start; });
    return behind == first ? nullptr : behind - 1;
  }
};

constinit const Functions kNone{0, {}};
constinit std::atomic<const Functions*> functions{nullptr};

// \returns what is kept, which may be another thread's.
const Functions* publish(const Functions* made) {
  const Functions* kept = nullptr;
  return functions.compare_exchange_strong(kept, made, std::memory_order_acq_rel) ? made : kept;
}

const Functions* list_program() {
  const Section section = ProgramFile().eh_frame();
  if (section.start == 0) return publish(&kNone);
  const auto* const start = reinterpret_cast<const void*>(section.start);
  // Twice through the section: counted, then listed into memory of that size, as nothing here may allocate.
  const std::size_t count = list_functions(start, section.bytes, nullptr, 0);
  MappedArray<char> memory;
  if (!memory.reserve(sizeof(Functions) + count * sizeof(FunctionFrames))) return &kNone;
  auto* const made = reinterpret_cast<Functions*>(memory.begin());
  made->count = list_functions(start, section.bytes, made->first, count);
  std::sort(made->first, made->first + made->count,
            [](const FunctionFrames& a, const FunctionFrames& b) { return a.start < b.start; });
  const Functions* const kept = publish(made);
  if (kept == made) memory.keep();
  return kept;
}

}  // namespace

UnwindRule rule_in_program(std::uintptr_t address) {
  const Functions* const made = functions.load(std::memory_order_acquire);
  const FunctionFrames* const function = (made != nullptr ? made : list_program())->find(address);
  return function != nullptr ? rule_in_function(function->description, address) : UnwindRule{};
}

}  // namespace tarn::internal::os
