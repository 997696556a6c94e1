#include "core_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/procfs.h>

#include <algorithm>
#include <cstring>

#include "elf_machine.h"
#include "elf_notes.h"
#include "kernel_text.h"
#include "maps_parser.h"
#include "printable.h"

namespace tarn::observer {
namespace {

// \why limits: a forged file can be terabytes of nothing.
constexpr std::uint64_t kMostSegments = 1 << 22;
constexpr std::uint64_t kLargestFileNote = 64 << 20;  // 65,530 mappings, the usual limit, need 8 MiB

/// Reads a core file part by part into its contents.
class CoreReader {
 public:
  CoreReader(const InputFile& file, const std::string& path) : file_(file), path_(path) {}

  CoreContents read() {
    read_header();
    const std::uint64_t count = program_header_count();
    for (std::uint64_t i = 0; i < count; ++i) {
      Elf64_Phdr part;
      if (!file_.read_all(header_.e_phoff + i * sizeof part, &part, sizeof part)) break;
      if (part.p_type == PT_LOAD) add_segment(part);
      if (part.p_type == PT_NOTE) add_notes(part);
    }
    sort_and_separate(contents_.segments);
    sort_and_separate(contents_.files);
    contents_.memory = DumpMemory(std::move(ranges_));
    return std::move(contents_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ObserveError(fmt::format("'{}' {}", path_, what));
  }

  void read_header() {
    if (!file_.read_all(0, &header_, sizeof header_) || !is_elf(header_))
      fail("is no core file: name one that the kernel or gcore wrote");
    if (const std::string obstacle = machine_obstacle(header_); !obstacle.empty()) fail(obstacle);
    if (header_.e_type != ET_CORE)
      fail("is an ELF file, but no core file: name one that the kernel or gcore wrote");
    if (header_.e_phentsize != sizeof(Elf64_Phdr))
      fail("is damaged: its segments have no size that ELF knows");
  }

  // Above 65,534 the count stands in the first section header.
  std::uint64_t program_header_count() const {
    std::uint64_t count = header_.e_phnum;
    Elf64_Shdr first;
    if (count == PN_XNUM && file_.read_all(header_.e_shoff, &first, sizeof first)) count = first.sh_info;
    const std::uint64_t size = file_.bytes();
    if (header_.e_phoff > size) return 0;
    return std::min({count, (size - header_.e_phoff) / sizeof(Elf64_Phdr), kMostSegments});
  }

  void add_segment(const Elf64_Phdr& part) {
    Mapping mapping;
    mapping.start = part.p_vaddr;
    if (part.p_memsz == 0 || part.p_memsz > UINT64_MAX - part.p_vaddr) return;
    mapping.end = part.p_vaddr + part.p_memsz;
    mapping.is_readable = (part.p_flags & PF_R) != 0;
    mapping.is_writable = (part.p_flags & PF_W) != 0;
    mapping.is_executable = (part.p_flags & PF_X) != 0;
    const std::uint64_t held = std::min(part.p_filesz, part.p_memsz);
    if (held != 0 && held <= UINT64_MAX - part.p_offset)
      ranges_.push_back({mapping.start, mapping.start + held, part.p_offset});
    contents_.segments.push_back(std::move(mapping));
  }

  void add_notes(const Elf64_Phdr& part) {
    if (part.p_filesz > UINT64_MAX - part.p_offset) return;
    for_each_note(
        [this](std::uint64_t at, void* into, std::size_t bytes) { return file_.read_all(at, into, bytes); },
        part.p_offset, part.p_offset + part.p_filesz, part.p_align,
        [this](const ElfNote& note) { add_note(note); });
  }

  void add_note(const ElfNote& note) {
    if (note.owner != "CORE") return;
    if (note.type == NT_PRPSINFO) add_process(note);
    if (note.type == NT_PRSTATUS) add_thread(note);
    if (note.type == NT_FILE) add_files(note);
  }

  void add_process(const ElfNote& note) {
    elf_prpsinfo process;
    if (note.bytes < sizeof process || !file_.read_all(note.content, &process, sizeof process)) return;
    contents_.pid = process.pr_pid;
    const std::string_view name(process.pr_fname, strnlen(process.pr_fname, sizeof process.pr_fname));
    const std::string_view command(process.pr_psargs, strnlen(process.pr_psargs, sizeof process.pr_psargs));
    const std::string file = base_name(command.substr(0, command.find(' ')));
    // The kernel cuts the name after 15 characters, the command line after 79.
    contents_.program = printable(name.size() == 15 && file.starts_with(name) ? file : name);
  }

  // Of the first thread, for files without a process note.
  void add_thread(const ElfNote& note) {
    elf_prstatus thread;
    if (contents_.pid != 0 || note.bytes < sizeof thread) return;
    if (file_.read_all(note.content, &thread, sizeof thread)) contents_.pid = thread.pr_pid;
  }

  // Count and page size; start, end and offset in pages of each; then the paths, each with a zero.
  void add_files(const ElfNote& note) {
    if (note.bytes < 16 || note.bytes > kLargestFileNote) return;
    std::vector<char> content(note.bytes);
    if (!file_.read_all(note.content, content.data(), content.size())) return;
    std::uint64_t head[2];
    std::memcpy(head, content.data(), sizeof head);
    const auto [count, page_bytes] = head;
    if (count > (content.size() - 16) / 24) return;
    std::string_view paths(content.data() + 16 + count * 24, content.size() - 16 - count * 24);
    for (std::uint64_t i = 0; i < count && !paths.empty(); ++i) {
      const std::string_view path = paths.substr(0, paths.find('\0'));
      add_file(content.data() + 16 + i * 24, page_bytes, path);
      paths.remove_prefix(std::min(paths.size(), path.size() + 1));
    }
  }

  void add_file(const char* entry, std::uint64_t page_bytes, std::string_view path) {
    std::uint64_t values[3];
    std::memcpy(values, entry, sizeof values);
    Mapping mapping;
    mapping.start = values[0], mapping.end = values[1];
    mapping.path = path;
    if (!__builtin_mul_overflow(values[2], page_bytes, &mapping.offset) && mapping.end > mapping.start &&
        mapping.bytes() <= UINT64_MAX - mapping.offset)
      contents_.files.push_back(std::move(mapping));
  }

  const InputFile& file_;
  const std::string& path_;
  Elf64_Ehdr header_{};
  std::vector<DumpRange> ranges_;
  CoreContents contents_;
};

}  // namespace

CoreContents read_core_contents(const InputFile& file, const std::string& path) {
  return CoreReader(file, path).read();
}

std::vector<Mapping> mappings_of(const CoreContents& contents) {
  std::vector<Mapping> mappings = contents.segments;
  for (Mapping& mapping : mappings)
    if (const Mapping* const file = find_range(contents.files, mapping.start); file != nullptr) {
      mapping.offset = file->offset + (mapping.start - file->start);
      mapping.path = file->path;
    }
  for (Mapping file : contents.files) {
    if (find_range(contents.segments, file.start) != nullptr) continue;
    file.end = std::min(file.end, next_start(contents.segments, file.start));
    file.is_readable = true;
    mappings.push_back(std::move(file));
  }
  sort_and_separate(mappings);
  return mappings;
}

}  // namespace tarn::observer
