// A minidump as a source: Microsoft's format as Breakpad and Crashpad write it on Linux (Breakpad's
// minidump_format.h, Microsoft's minidumpapiset.h), little-endian. It holds the memory that its writer chose.
//
// The file may be cut off or forged: each offset and count is checked, and what does not fit is left out.
#include <fmt/format.h>

#include <algorithm>

#include "observer/dumps/dump_memory.h"
#include "observer/dumps/minidump_format.h"
#include "observer/files/elf_headers.h"
#include "observer/files/input_file.h"
#include "observer/files/kernel_text.h"
#include "observer/process/maps_parser.h"
#include "observer/process/source.h"
#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

using namespace minidump;

constexpr std::uint64_t kMostStreams = 4096;
// \why limits: a forged file can be terabytes of nothing.
constexpr std::uint64_t kMostRecords = 1 << 22;
constexpr std::uint64_t kLongestText = 64 << 20;

/// Reads a minidump part by part.
class MinidumpReader {
 public:
  MinidumpReader(const InputFile& file, const std::string& path)
      : file_(file), path_(path), size_(file.bytes()) {
    Header header;
    if (!take(0, header) || header.signature != kSignature || (header.version & 0xffff) != kVersion)
      fail("is no minidump: name one that Breakpad or Crashpad wrote");
    streams_ = take_array<Directory>(header.directory, std::min<std::uint64_t>(header.streams, kMostStreams));
    require_own_machine();
  }

  std::vector<DumpRange> memory() const {
    std::vector<DumpRange> ranges;
    add_memory(ranges);
    add_memory64(ranges);
    return ranges;
  }

  /// From the text that Breakpad keeps; else the ranges themselves, with the paths of their modules. \why all
  /// of these writable: Crashpad keeps stacks and what they lead to, and nothing tells the rights.
  std::vector<Mapping> mappings(const std::vector<DumpRange>& ranges) const {
    std::vector<Mapping> mappings = parse_maps(text_of(Stream::kLinuxMaps));
    if (!mappings.empty()) return mappings;
    const std::vector<Mapping> all_modules = modules();
    for (const DumpRange& range : ranges) {
      Mapping mapping{range.start, range.end, 0, true, true, false, false, ""};
      if (const Mapping* const module = find_range(all_modules, range.start); module != nullptr) {
        mapping.offset = range.start - module->start;
        mapping.path = module->path;
      }
      mappings.push_back(std::move(mapping));
    }
    return mappings;
  }

  int pid() const {
    const Directory* const stream = find(Stream::kMiscInfo);
    MiscInfo info;
    if (stream != nullptr && stream->bytes >= sizeof info && take(stream->offset, info) &&
        (info.flags & kHasProcessId) != 0)
      return static_cast<int>(info.process_id);
    return static_cast<int>(number_in(field_of(text_of(Stream::kLinuxProcStatus), "Tgid:")));
  }

  std::string program() const {
    const std::string command = text_of(Stream::kLinuxCommandLine),
                      status = text_of(Stream::kLinuxProcStatus);
    const std::string file = base_name(std::string_view(command).substr(0, command.find('\0')));
    const std::string_view name = field_of(status, "Name:");
    if (!name.empty() && !(name.size() == 15 && file.starts_with(name))) return printable(name);
    if (!file.empty()) return printable(file);
    return printable(base_name(first_module_path()));
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ObserveError(fmt::format("'{}' {}", path_, what));
  }

  template <typename Record>
  bool take(std::uint64_t offset, Record& record) const {
    return file_.read_all(offset, &record, sizeof record);
  }

  /// As many of `count` records as the file has.
  template <typename Record>
  std::vector<Record> take_array(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_) return {};
    std::vector<Record> records(std::min(count, (size_ - offset) / sizeof(Record)));
    records.resize(file_.read(offset, records.data(), records.size() * sizeof(Record)) / sizeof(Record));
    return records;
  }

  const Directory* find(Stream type) const {
    const auto stream = std::find_if(streams_.begin(), streams_.end(), [type](const Directory& directory) {
      return directory.type == static_cast<std::uint32_t>(type);
    });
    return stream == streams_.end() ? nullptr : &*stream;
  }

  std::string text_of(Stream type) const {
    const Directory* const stream = find(type);
    if (stream == nullptr) return "";
    const std::vector<char> text =
        take_array<char>(stream->offset, std::min<std::uint64_t>(stream->bytes, kLongestText));
    return {text.begin(), text.end()};
  }

  /// The records of a stream that is a count and records. Some writers leave four bytes between, so that the
  /// records are aligned; then the stream is so much longer.
  template <typename Record>
  std::vector<Record> take_list(Stream type) const {
    const Directory* const stream = find(type);
    std::uint32_t count = 0;
    if (stream == nullptr || stream->bytes < sizeof count || !take(stream->offset, count)) return {};
    const std::uint64_t room = stream->bytes - sizeof count;
    const std::uint64_t gap = room == count * std::uint64_t{sizeof(Record)} + 4 ? 4 : 0;
    return take_array<Record>(stream->offset + sizeof count + gap,
                              std::min({std::uint64_t{count}, (room - gap) / sizeof(Record), kMostRecords}));
  }

  void require_own_machine() const {
    const Directory* const stream = find(Stream::kSystemInfo);
    std::uint16_t processor = 0;
    if (stream == nullptr || stream->bytes < sizeof processor || !take(stream->offset, processor))
      fail("is cut off or damaged: it does not tell its machine");
    if (const std::string obstacle = machine_obstacle(elf_machine_of(processor)); !obstacle.empty())
      fail(obstacle);
  }

  void add_memory(std::vector<DumpRange>& ranges) const {
    for (const MemoryDescriptor& part : take_list<MemoryDescriptor>(Stream::kMemoryList))
      if (part.bytes <= UINT64_MAX - part.start)
        ranges.push_back({part.start, part.start + part.bytes, part.offset});
  }

  // The ranges' bytes follow each other in the file.
  void add_memory64(std::vector<DumpRange>& ranges) const {
    const Directory* const stream = find(Stream::kMemory64List);
    Memory64List list;
    if (stream == nullptr || stream->bytes < sizeof list || !take(stream->offset, list)) return;
    const std::uint64_t most = (stream->bytes - sizeof list) / sizeof(Memory64Descriptor);
    std::uint64_t offset = list.first_offset;
    for (const Memory64Descriptor& part : take_array<Memory64Descriptor>(
             stream->offset + sizeof list, std::min({list.count, most, kMostRecords}))) {
      if (part.bytes > UINT64_MAX - part.start || part.bytes > UINT64_MAX - offset) return;
      ranges.push_back({part.start, part.start + part.bytes, offset});
      offset += part.bytes;
    }
  }

  std::vector<Mapping> modules() const {
    std::vector<Mapping> mappings;
    for (const Module& module : take_list<Module>(Stream::kModuleList)) {
      Mapping mapping;
      if (module.bytes > UINT64_MAX - module.start) continue;
      mapping.start = module.start, mapping.end = module.start + module.bytes;
      mapping.path = string_at(module.name);
      mappings.push_back(std::move(mapping));
    }
    sort_and_separate(mappings);
    return mappings;
  }

  std::string first_module_path() const {
    const std::vector<Module> all = take_list<Module>(Stream::kModuleList);
    return all.empty() ? "" : string_at(all.front().name);
  }

  std::string string_at(std::uint32_t offset) const {
    std::uint32_t bytes = 0;
    if (!take(offset, bytes)) return "";
    return utf8_of(take_array<char16_t>(offset + std::uint64_t{sizeof bytes}, std::min(bytes, 8192u) / 2));
  }

  const InputFile& file_;
  const std::string& path_;
  std::uint64_t size_;
  std::vector<Directory> streams_;
};

class MinidumpSource final : public Source {
 public:
  explicit MinidumpSource(const std::string& path) : file_(open_dump_file(path)) {
    const MinidumpReader reader(file_, path);
    memory_ = DumpMemory(reader.memory());
    mappings_ = reader.mappings(memory_.ranges());
    pid_ = reader.pid();
    program_ = reader.program();
  }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    return memory_.read(file_, address, into, bytes);
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kMinidump; }
  int pid() const override { return pid_; }
  std::string program() const override { return program_; }

 private:
  InputFile file_;
  DumpMemory memory_;
  std::vector<Mapping> mappings_;
  int pid_ = 0;
  std::string program_;
};

}  // namespace

std::unique_ptr<Source> open_minidump(const std::string& path) {
  return std::make_unique<MinidumpSource>(path);
}

}  // namespace tarn::observer
