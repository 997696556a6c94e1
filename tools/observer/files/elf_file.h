// An ELF file on disk, opened with libelf and closed again.
#pragma once
#include <libelf.h>

#include <string>
#include <utility>

#include "observer/files/input_file.h"

namespace tarn::observer {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : ElfFile(open_regular_file(path)) {}
  explicit ElfFile(InputFile file) : file_(std::move(file)) {
    if (file_.is_open() && elf_version(EV_CURRENT) != EV_NONE)
      elf_ = elf_begin(file_.descriptor(), ELF_C_READ, nullptr);
    if (elf_ != nullptr && elf_kind(elf_) != ELF_K_ELF) {
      elf_end(elf_);
      elf_ = nullptr;
    }
  }
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// nullptr: there is no such file, or it is none of ELF.
  Elf* get() const { return elf_; }
  const InputFile& file() const { return file_; }

 private:
  InputFile file_;
  Elf* elf_ = nullptr;
};

}  // namespace tarn::observer
