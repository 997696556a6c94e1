// A core file as a source, and open_dump.
//
// A core file leaves out what was mapped from files and never written to: programs, libraries, constants.
// What is read there comes from those files themselves: a file must be where it was, and be the same. That is
// checked by its build id where the core file holds its first page with the id in it; of other files, such as
// plain data, the bytes are those of today.
// Threads: a lock guards the opening of such files; reads themselves take none.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "build_id.h"
#include "core_file.h"
#include "dump_memory.h"
#include "input_file.h"
#include "maps_parser.h"
#include "source.h"

namespace tarn::observer {
namespace {

class CoreSource final : public Source {
 public:
  explicit CoreSource(const std::string& path)
      : file_(open_dump_file(path)),
        contents_(read_core_contents(file_, path)),
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
    const std::optional<std::string> id_now = build_id_in(
        [&](std::uint64_t at, void* into, std::size_t bytes) { return file.read_all(at, into, bytes); });
    return !id_then || id_then == id_now;
  }

  InputFile file_;
  CoreContents contents_;
  std::vector<Mapping> mappings_;
  mutable std::mutex opening_;
  mutable std::map<std::string, InputFile> mapped_files_;  // guarded by opening_; what is in it stays
};

}  // namespace

std::unique_ptr<Source> open_core(const std::string& path) { return std::make_unique<CoreSource>(path); }

std::unique_ptr<Source> open_dump(const std::string& path) {
  char magic[4] = {};
  open_dump_file(path).read(0, magic, sizeof magic);
  if (std::memcmp(magic, "MDMP", 4) == 0) return open_minidump(path);
  if (std::memcmp(magic, "\177ELF", 4) == 0) return open_core(path);
  throw ObserveError(fmt::format("'{}' is neither a core file nor a minidump: name one of these", path));
}

}  // namespace tarn::observer
