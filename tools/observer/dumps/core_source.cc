// A core file as a source, and open_dump.
//
// A core file leaves out what was mapped from files and never written to: programs, libraries, constants.
// What is read there comes from those files themselves: a file must be where it was, and be the same. That is
// checked by its build id where the core file holds its first page with the id in it; of other files, such as
// plain data, the bytes are those of today.
// Threads: a lock guards the opening of such files; reads themselves take none.
#include <elf.h>
#include <fmt/format.h>
#include <sys/procfs.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "observer/dumps/dump_memory.h"
#include "observer/files/build_id.h"
#include "observer/files/elf_headers.h"
#include "observer/files/input_file.h"
#include "observer/files/kernel_text.h"
#include "observer/process/maps_parser.h"
#include "observer/process/source.h"
#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

// -- What the headers and notes say: core(5), and for the notes fs/binfmt_elf.c of Linux -----------------
//
// The file may be cut off (a limit, a full disk) or forged: each offset and count is checked against the file
// and against overflow, and what does not fit is left out.

/// Invariant: both lists of mappings are sorted and without overlaps.
struct CoreContents {
  std::vector<Mapping> segments;  // with their rights; without paths
  std::vector<Mapping> files;     // what was mapped from files: offset and path, without rights
  DumpMemory memory;
  int pid = 0;
  std::string program;
  std::vector<Address> registers;  // of all threads, and other words of their notes
  bool has_all_registers = true;
};

// \why limits: a forged file can be terabytes of nothing.
constexpr std::uint64_t kMostSegments = 1 << 22;
constexpr std::uint64_t kLargestFileNote = 64 << 20;  // 65,530 mappings, the usual limit, need 8 MiB
constexpr std::uint64_t kLargestThreadNote = 64 << 10;
constexpr std::size_t kMostRegisters = std::size_t{1} << 24;

enum class Registers : std::uint8_t { kLeave, kRead };

/// Reads a core file part by part into its contents.
class CoreReader {
 public:
  CoreReader(const InputFile& file, const std::string& path, Registers registers)
      : file_(file), path_(path), reads_registers_(registers == Registers::kRead) {}

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

  // The first thread's number is the process's, in files without a process note.
  void add_thread(const ElfNote& note) {
    if (reads_registers_) add_registers(note);
    elf_prstatus thread;
    if (contents_.pid != 0 || note.bytes < sizeof thread) return;
    if (file_.read_all(note.content, &thread, sizeof thread)) contents_.pid = thread.pr_pid;
  }

  void add_registers(const ElfNote& note) {
    std::vector<Address>& words = contents_.registers;
    const std::size_t before = words.size(), more = note.bytes / sizeof(Address);
    contents_.has_all_registers &= note.bytes <= kLargestThreadNote && before + more <= kMostRegisters;
    if (!contents_.has_all_registers) return;
    words.resize(before + more);
    contents_.has_all_registers = file_.read_all(note.content, words.data() + before, more * sizeof(Address));
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
  const bool reads_registers_;
  Elf64_Ehdr header_{};
  std::vector<DumpRange> ranges_;
  CoreContents contents_;
};

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

// -- The source ------------------------------------------------------------------------------------------

class CoreSource final : public Source {
 public:
  explicit CoreSource(const std::string& path)
      : file_(open_dump_file(path)),
        contents_(CoreReader(file_, path, Registers::kLeave).read()),
        mappings_(mappings_of(contents_)) {}

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    std::size_t done = 0;
    while (done < bytes) {
      char* const at = static_cast<char*>(into) + done;
      std::size_t part = contents_.memory.read(file_, address + done, at, bytes - done);
      if (part == 0) part = read_left_out(address + done, at, bytes - done);
      if (part == 0) break;
      done += part;
    }
    return done;
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kCore; }
  int pid() const override { return contents_.pid; }
  std::string program() const override { return contents_.program; }

 private:
  // \why not of writable memory: what the program wrote is not in the file.
  std::size_t read_left_out(Address address, char* into, std::size_t bytes) const {
    const Mapping* const mapping = find_range(mappings_, address);
    if (mapping == nullptr || mapping->path.empty() || !mapping->is_readable || mapping->is_writable)
      return 0;
    if (contents_.memory.covers(address)) return 0;  // the core file is cut off
    const Address end = std::min(mapping->end, next_start(contents_.memory.ranges(), address));
    const InputFile& file = mapped_file(mapping->path);
    if (!file.is_open()) return 0;
    return file.read(mapping->offset + (address - mapping->start), into,
                     std::min<std::uint64_t>(bytes, end - address));
  }

  /// \returns a file that is open only when it is there and may be the one of then.
  const InputFile& mapped_file(const std::string& path) const {
    const std::lock_guard lock(opening_);
    const auto [place, is_new] = mapped_files_.try_emplace(path);
    if (is_new && path.starts_with('/'))
      if (InputFile file = open_regular_file(path); file.is_open() && may_be_the_same(path, file))
        place->second = std::move(file);
    return place->second;
  }

  bool may_be_the_same(const std::string& path, const InputFile& file) const {
    const auto head =
        std::find_if(contents_.files.begin(), contents_.files.end(),
                     [&](const Mapping& mapping) { return mapping.offset == 0 && mapping.path == path; });
    if (head == contents_.files.end()) return true;
    const std::optional<std::string> id_then =
        build_id_in([&](std::uint64_t at, void* into, std::size_t bytes) {
          return contents_.memory.read(file_, head->start + at, into, bytes) == bytes;
        });
    return !id_then || id_then == build_id_in(file);
  }

  InputFile file_;
  CoreContents contents_;
  std::vector<Mapping> mappings_;
  mutable std::mutex opening_;
  mutable std::map<std::string, InputFile> mapped_files_;  // guarded by opening_; what is in it stays
};

}  // namespace

std::unique_ptr<Source> open_core(const std::string& path) { return std::make_unique<CoreSource>(path); }

std::vector<Address> core_file_words(const std::string& path) {
  try {
    CoreContents contents = CoreReader(open_dump_file(path), path, Registers::kRead).read();
    return contents.has_all_registers ? std::move(contents.registers) : std::vector<Address>();
  } catch (const ObserveError&) {  // the file is gone, or another one
    return {};
  }
}

std::unique_ptr<Source> open_dump(const std::string& path) {
  char magic[4] = {};
  open_dump_file(path).read(0, magic, sizeof magic);
  if (std::memcmp(magic, "MDMP", 4) == 0) return open_minidump(path);
  if (std::memcmp(magic, "\177ELF", 4) == 0) return open_core(path);
  throw ObserveError(fmt::format("'{}' is neither a core file nor a minidump: name one of these", path));
}

}  // namespace tarn::observer
