// Makes small minidumps by hand.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "observer/core_builder.h"
#include "observer/minidump_format.h"

namespace tarn::test {

class MinidumpBuilder {
 public:
  using Stream = observer::minidump::Stream;
  struct Range {
    std::uint64_t start;
    std::string content;
  };
  static constexpr std::uint16_t kOwnProcessor = kOwnMachine == EM_X86_64 ? 9 : 12;

  explicit MinidumpBuilder(std::size_t streams) : most_streams_(streams) {}

  MinidumpBuilder& add(Stream type, const std::string& content) {
    directory_.push_back(
        {static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(content.size()), next()});
    body_ += content;
    return *this;
  }
  MinidumpBuilder& add_system(std::uint16_t processor = kOwnProcessor) {
    return add(Stream::kSystemInfo, bytes_of(processor) + std::string(54, '\0'));
  }
  MinidumpBuilder& add_pid(std::uint32_t pid) {
    const observer::minidump::MiscInfo info{24, observer::minidump::kHasProcessId, pid};
    return add(Stream::kMiscInfo, bytes_of(info) + std::string(12, '\0'));
  }
  /// \p gap: the bytes between count and records, which some writers leave.
  MinidumpBuilder& add_memory(const std::vector<Range>& ranges, std::size_t gap = 0) {
    std::string list = bytes_of(static_cast<std::uint32_t>(ranges.size())) + std::string(gap, '\0');
    for (const Range& range : ranges) {
      list += bytes_of(observer::minidump::MemoryDescriptor{
          range.start, static_cast<std::uint32_t>(range.content.size()), next()});
      body_ += range.content;
    }
    return add(Stream::kMemoryList, list);
  }
  MinidumpBuilder& add_memory64(const std::vector<Range>& ranges) {
    std::string list = bytes_of(observer::minidump::Memory64List{ranges.size(), next()});
    for (const Range& range : ranges) {
      list += bytes_of(observer::minidump::Memory64Descriptor{range.start, range.content.size()});
      body_ += range.content;
    }
    return add(Stream::kMemory64List, list);
  }
  MinidumpBuilder& add_module(std::uint64_t start, std::uint32_t bytes, const std::u16string& name) {
    observer::minidump::Module module{};
    module.start = start, module.bytes = bytes, module.name = next();
    body_ += bytes_of(static_cast<std::uint32_t>(name.size() * 2));
    body_.append(reinterpret_cast<const char*>(name.data()), name.size() * 2);
    return add(Stream::kModuleList, bytes_of(std::uint32_t{1}) + bytes_of(module));
  }

  std::string build() const {
    observer::minidump::Header header{};
    header.signature = observer::minidump::kSignature, header.version = observer::minidump::kVersion;
    header.streams = static_cast<std::uint32_t>(directory_.size());
    header.directory = sizeof header;
    std::string file = bytes_of(header);
    for (const observer::minidump::Directory& stream : directory_) file += bytes_of(stream);
    file.resize(first());
    return file + body_;
  }

 private:
  std::size_t first() const {
    return sizeof(observer::minidump::Header) + most_streams_ * sizeof(observer::minidump::Directory);
  }
  std::uint32_t next() const { return static_cast<std::uint32_t>(first() + body_.size()); }

  std::size_t most_streams_;
  std::vector<observer::minidump::Directory> directory_;
  std::string body_;
};

}  // namespace tarn::test
