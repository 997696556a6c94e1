// Makes small ELF core files by hand.
#pragma once
#include <elf.h>
#include <sys/procfs.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::test {

#if defined(__aarch64__)
inline constexpr Elf64_Half kOwnMachine = EM_AARCH64, kOtherMachine = EM_X86_64;
#else
inline constexpr Elf64_Half kOwnMachine = EM_X86_64, kOtherMachine = EM_AARCH64;
#endif

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

inline Elf64_Ehdr elf_header(Elf64_Half type, std::size_t parts) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = kOwnMachine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(parts);
  return header;
}

inline std::string elf_note(std::string owner, std::uint32_t type, std::string content) {
  Elf64_Nhdr header{};
  header.n_namesz = static_cast<Elf64_Word>(owner.size() + 1);
  header.n_descsz = static_cast<Elf64_Word>(content.size());
  header.n_type = type;
  owner.resize((owner.size() + 4) / 4 * 4);
  content.resize((content.size() + 3) / 4 * 4);
  return bytes_of(header) + owner + content;
}

/// The start of a library: a header, and a note with its build id.
inline std::string library_head(std::string_view build_id) {
  const std::string note = elf_note("GNU", NT_GNU_BUILD_ID, std::string(build_id));
  Elf64_Phdr part{};
  part.p_type = PT_NOTE;
  part.p_offset = sizeof(Elf64_Ehdr) + sizeof part;
  part.p_filesz = note.size();
  part.p_align = 4;
  std::string head = bytes_of(elf_header(ET_DYN, 1)) + bytes_of(part) + note;
  head.resize(4096);
  return head;
}

struct CoreBuilder {
  struct Segment {
    std::uint64_t start;
    std::string held;     // the bytes that the core file has
    std::uint64_t bytes;  // of the mapping
    std::uint32_t rights = PF_R | PF_W;
  };
  struct File {
    std::uint64_t start, end, first_page;
    std::string path;
  };
  Elf64_Ehdr header = elf_header(ET_CORE, 0);
  std::vector<Segment> segments;
  std::vector<File> files;
  int pid = 0;
  std::string program;

  std::string build() const {
    const std::string note_bytes = notes();
    std::string content = note_bytes;
    const std::uint64_t first = sizeof header + sizeof(Elf64_Phdr) * (segments.size() + 1);
    std::string parts = bytes_of(part(PT_NOTE, first, note_bytes.size(), 0, 0, 0));
    for (const Segment& segment : segments) {
      parts += bytes_of(part(PT_LOAD, first + content.size(), segment.held.size(), segment.start,
                             segment.bytes, segment.rights));
      content += segment.held;
    }
    Elf64_Ehdr counted = header;
    counted.e_phnum = static_cast<Elf64_Half>(segments.size() + 1);
    return bytes_of(counted) + parts + content;
  }

 private:
  static Elf64_Phdr part(std::uint32_t type, std::uint64_t offset, std::uint64_t held, std::uint64_t start,
                         std::uint64_t bytes, std::uint32_t rights) {
    Elf64_Phdr part{};
    part.p_type = type;
    part.p_offset = offset, part.p_filesz = held;
    part.p_vaddr = start, part.p_memsz = bytes;
    part.p_flags = rights;
    part.p_align = type == PT_NOTE ? 4 : 4096;
    return part;
  }

  std::string notes() const {
    elf_prpsinfo process{};
    process.pr_pid = pid;
    std::memcpy(process.pr_fname, program.data(), std::min(program.size(), sizeof process.pr_fname - 1));
    std::memcpy(process.pr_psargs, program.data(), std::min(program.size(), sizeof process.pr_psargs - 1));
    elf_prstatus thread{};
    thread.pr_pid = pid + 1;
    return elf_note("CORE", NT_PRSTATUS, bytes_of(thread)) +
           elf_note("CORE", NT_PRPSINFO, bytes_of(process)) + elf_note("CORE", NT_FILE, file_table());
  }

  std::string file_table() const {
    std::string table = bytes_of(std::uint64_t{files.size()}) + bytes_of(std::uint64_t{4096});
    for (const File& file : files)
      table += bytes_of(file.start) + bytes_of(file.end) + bytes_of(file.first_page);
    for (const File& file : files) table += file.path + '\0';
    return table;
  }
};

}  // namespace tarn::test
