// The minidump source on files made by hand, whole and damaged.
#include "observer/core_builder.h"
#include "observer/damaged_dump.h"
#include "observer/dumps/minidump_format.h"
#include "observer/memory_file.h"
#include "observer/process/source.h"
#include "observer/source_promises.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::test {
namespace {

/// Makes small minidumps by hand.
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

}  // namespace
}  // namespace tarn::test

namespace tarn::observer {
namespace {

using minidump::Stream;
using test::broken_promise_of;
using test::forged;
using test::MemoryFile;
using test::MinidumpBuilder;
using test::read_text;

constexpr auto error_of = test::error_of<ObserveError, std::function<void()>>;

std::string breakpad_dump(std::size_t gap = 0) {
  return MinidumpBuilder(8)
      .add_system()
      .add_memory({{0x20000, "second"}, {0x10000, "first"}, {0x20006, "third"}}, gap)
      .add(Stream::kLinuxMaps,
           "10000-11000 rw-p 00000000 00:00 0   [heap]\n20000-21000 r-xp 00002000 fd:01 9 /lib/x\n")
      .add(Stream::kLinuxProcStatus, "Name:\ta_server_with_a\nTgid:\t4711\nPid:\t4712\n")
      .add(Stream::kLinuxCommandLine, std::string("/opt/a_server_with_a_long_name\0--port\0001", 39))
      .build();
}

std::string crashpad_dump() {
  return MinidumpBuilder(8)
      .add_system()
      .add_pid(4711)
      .add_memory64({{0x20100, "second"}, {0x10000, "first"}})
      .add_module(0x20000, 0x1000, u"/opt/g\u00e4me\U0001f3b2")
      .build();
}

TEST(MinidumpSource, TellsWhoseMemoryItWas) {
  const MemoryFile breakpad(breakpad_dump()), crashpad(crashpad_dump());
  const auto first = open_dump(breakpad.path()), second = open_dump(crashpad.path());
  EXPECT_EQ(first->kind(), SourceKind::kMinidump);
  EXPECT_EQ(first->pid(), 4711);
  EXPECT_EQ(first->program(), "a_server_with_a_long_name");
  EXPECT_EQ(second->pid(), 4711);
  EXPECT_EQ(second->program(), "g\u00e4me\U0001f3b2");
}

TEST(MinidumpSource, ReadsBothKindsOfMemoryLists) {
  for (const std::size_t gap : {0, 4}) {
    const MemoryFile file(breakpad_dump(gap));
    const auto source = open_minidump(file.path());
    EXPECT_EQ(read_text(*source, 0x10000, 100), "first");
    EXPECT_EQ(read_text(*source, 0x20003, 100), "ondthird");
    EXPECT_EQ(read_text(*source, 0x2000b, 100), "");
  }
  const MemoryFile file(crashpad_dump());
  const auto source = open_minidump(file.path());
  EXPECT_EQ(read_text(*source, 0x10000, 100), "first");
  EXPECT_EQ(read_text(*source, 0x20100, 100), "second");
}

TEST(MinidumpSource, MappingsComeFromTheTextOfTheKernelWhereThatIsKept) {
  const MemoryFile file(breakpad_dump());
  const auto source = open_minidump(file.path());
  const auto mappings = source->mappings();
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].path, "[heap]");
  EXPECT_EQ(mappings[1].path, "/lib/x");
  EXPECT_TRUE(mappings[1].is_executable && !mappings[1].is_writable);
}

TEST(MinidumpSource, ElseTheyAreTheRangesWithThePathsOfModules) {
  const MemoryFile file(crashpad_dump());
  const auto source = open_minidump(file.path());
  const auto mappings = source->mappings();
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].start, 0x10000u);
  EXPECT_EQ(mappings[0].path, "");
  EXPECT_EQ(mappings[1].path, "/opt/g\u00e4me\U0001f3b2");
  EXPECT_EQ(mappings[1].offset, 0x100u);
}

TEST(MinidumpSource, WhatIsNoMinidumpOrOfAnotherMachineIsRefused) {
  const MemoryFile text("just some text"), nameless(MinidumpBuilder(0).build());
  const std::uint16_t other = MinidumpBuilder::kOwnProcessor == 9 ? 12 : 9;
  const MemoryFile foreign(MinidumpBuilder(1).add_system(other).build());
  const MemoryFile unknown(MinidumpBuilder(1).add_system(77).build());
  EXPECT_NE(error_of([&] { open_minidump(text.path()); }).find("is no minidump"), std::string::npos);
  EXPECT_NE(error_of([&] { open_dump(nameless.path()); }).find("does not tell its machine"),
            std::string::npos);
  for (const MemoryFile* file : {&foreign, &unknown})
    EXPECT_NE(error_of([&] { open_dump(file->path()); }).find("run a tarn built for that machine"),
              std::string::npos);
}

TEST(MinidumpSource, OneThatIsCutOffAnywhereIsReadAsFarAsItGoes) {
  MemoryFile file("");
  for (const std::string& content : {breakpad_dump(), crashpad_dump()})
    for (std::size_t length = 0; length < content.size(); ++length)
      ASSERT_EQ(broken_promise_of(file, content.substr(0, length)), "") << length;
}

TEST(MinidumpSource, AForgedOneBreaksNoPromise) {
  MemoryFile file("");
  for (const std::string& content : {breakpad_dump(), crashpad_dump()})
    for (std::uint64_t seed = 1, end = test::amount(10000, 1000000); seed <= end; ++seed) {
      ASSERT_EQ(broken_promise_of(file, forged(content, seed)), "") << "seed " << seed;
    }
}

TEST(MinidumpSource, ExtremeSizesAndOffsetsBreakNoPromise) {
  MemoryFile file("");
  for (const std::string& content : {breakpad_dump(), crashpad_dump()})
    for (const std::uint64_t extreme : {UINT64_MAX, UINT64_MAX - 4095, std::uint64_t{1} << 63})
      for (std::size_t at = 0; at + 8 <= content.size(); at += 2) {
        std::string damaged = content;
        std::memcpy(damaged.data() + at, &extreme, 8);
        ASSERT_EQ(broken_promise_of(file, damaged), "") << extreme << " at " << at;
      }
}

}  // namespace

}  // namespace tarn::observer
