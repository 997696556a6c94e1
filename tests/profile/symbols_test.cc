#include "profile/symbols/symbols.h"

#include <dlfcn.h>

#include <filesystem>

#include "profile/files/symbol_file.h"
#include "profile/symbols/jit_names.h"
#include "profile/symbols/reader_process.h"
#include "support/prelude.h"

namespace tarn::profile {
namespace {

namespace fs = std::filesystem;

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/tarn-profile-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Scratch() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

SymbolPlaces places_with(const std::vector<std::string>& directories) {
  SymbolPlaces places = places_of_core();
  places.files.directories = directories;
  return places;
}

std::string build_id_of_file(const std::string& path) {
  const SymbolPlaces places = places_of_core();
  return SymbolFile(observer::open_regular_file(path), path, places.files).build_id();
}

/// What the known program told of its run: two stacks of one address each, and its module.
HeapProfile run_known_stacks(const std::string& program = TARN_KNOWN_STACKS) {
  HeapProfile profile;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(program.c_str(), "r"), pclose);
  unsigned long long start = 0, end = 0, first = 0, second = 0;
  if (std::fscanf(output.get(), "%llx-%llx %*[^\n]\n%llx %llx", &start, &end, &first, &second) != 4)
    return profile;
  profile.modules = {{start, std::max(first, second) + 0x10000, 0, program, build_id_of_file(program)}};
  profile.stacks.resize(2);
  profile.stacks[0].addresses = {first};
  profile.stacks[1].addresses = {second};
  return profile;
}

unsigned line_with(const std::string& mark) {
  const std::string source = fs::path(__FILE__).parent_path() / "known_stacks.cc";
  std::ifstream lines(source);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number)
    if (line.find("// line: " + mark) != std::string::npos) return number;
  return 0;
}

std::string build_id_in_hex(const HeapProfile& profile) {
  std::string id;
  for (const char byte : profile.modules[0].build_id) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    id += digits;
  }
  return id;
}

void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

/// The known program's profile over another file in its place.
HeapProfile over_file(HeapProfile profile, const fs::path& file) {
  profile.modules[0].path = file;
  return profile;
}

void expect_inlined_frames(const Location& location) {
  ASSERT_EQ(location.frames.size(), 2u);
  EXPECT_EQ(location.frames[0].function, "app::(anonymous namespace)::Queue::grow");
  EXPECT_TRUE(location.frames[0].is_inlined);
  EXPECT_EQ(location.frames[0].line, line_with("grow"));
  EXPECT_TRUE(location.frames[1].function.starts_with("app::build(")) << location.frames[1].function;
  EXPECT_FALSE(location.frames[1].is_inlined);
  EXPECT_EQ(location.frames[1].line, line_with("build"));
  EXPECT_TRUE(location.frames[1].file.ends_with("known_stacks.cc"));
}

TEST(Symbols, InlinedFunctionsComeBeforeTheOneThatHoldsThem) {
  const HeapProfile profile = run_known_stacks();
  ASSERT_EQ(profile.stacks.size(), 2u);
  const Symbols symbols(profile, places_of_core());
  expect_inlined_frames(symbols.at(profile.stacks[0].addresses[0]));
  const Location& plain = symbols.at(profile.stacks[1].addresses[0]);
  ASSERT_EQ(plain.frames.size(), 1u);
  EXPECT_EQ(plain.frames[0].line, line_with("build") + 1);
  EXPECT_TRUE(symbols.warnings().empty());
}

TEST(Symbols, DebugInformationMayBeInAFileOfItsOwn) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  const fs::path stripped = scratch / "stripped";
  run("strip -o " + stripped.string() + " " TARN_KNOWN_STACKS);
  const std::string id = build_id_in_hex(profile);
  const fs::path directory = (scratch / ".build-id") / id.substr(0, 2);
  fs::create_directories(directory);
  run("objcopy --only-keep-debug " TARN_KNOWN_STACKS " " + (directory / (id.substr(2) + ".debug")).string());
  const Symbols symbols(over_file(profile, stripped), places_with({(scratch / "").string()}));
  expect_inlined_frames(symbols.at(profile.stacks[0].addresses[0]));
}

/// A client of debuginfod, before the system's own, that has fetched what it is asked for.
void make_client(const fs::path& client, const std::string& build_id, const fs::path& fetched) {
  std::ofstream(client) << "#!/bin/sh\ntest \"$*\" = \"debuginfo " << build_id << "\" && echo " << fetched
                        << "\n";
  fs::permissions(client, fs::perms::owner_all);
  const std::string path = client.parent_path().string() + ":" + ::getenv("PATH");
  ::setenv("PATH", path.c_str(), 1);
}

TEST(Symbols, AServerThatTheUserHasNamedIsAskedForDebugInformation) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  const fs::path stripped = scratch / "stripped", debug = scratch / "fetched";
  run("strip -o " + stripped.string() + " " TARN_KNOWN_STACKS);
  run("objcopy --only-keep-debug " TARN_KNOWN_STACKS " " + debug.string());
  make_client(scratch / "debuginfod-find", build_id_in_hex(profile), debug);
  const HeapProfile over_stripped = over_file(profile, stripped);
  const auto location_of_first = [&] {
    return Symbols(over_stripped, places_with({})).at(profile.stacks[0].addresses[0]);
  };
  EXPECT_FALSE(location_of_first().has_function) << "no server is named, none is asked";
  ::setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
  expect_inlined_frames(location_of_first());
  ::unsetenv("DEBUGINFOD_URLS");
}

TEST(Symbols, ADebugFileMayBeNamedByTheProgramAndBeBesideIt) {
  const HeapProfile profile = run_known_stacks();
  for (const char* const place : {"", ".debug/"}) {
    const Scratch scratch;
    const fs::path debug = (scratch / place) / "s.debug";
    fs::create_directories(debug.parent_path());
    run("objcopy --only-keep-debug --remove-section=.note.gnu.build-id " TARN_KNOWN_STACKS " " +
        debug.string());
    run("strip --remove-section=.note.gnu.build-id -o " + (scratch / "s").string() + " " TARN_KNOWN_STACKS);
    run("objcopy --add-gnu-debuglink=" + debug.string() + " " + (scratch / "s").string());
    HeapProfile linked = over_file(profile, scratch / "s");
    linked.modules[0].build_id.clear();
    expect_inlined_frames(Symbols(linked, places_with({})).at(profile.stacks[0].addresses[0]));
    std::ofstream(debug, std::ios::app) << "changed";
    EXPECT_FALSE(Symbols(linked, places_with({})).at(profile.stacks[0].addresses[0]).has_function);
  }
}

TEST(Symbols, DebugInformationMayBeSplitOff) {
  const HeapProfile profile = run_known_stacks(TARN_SPLIT_STACKS);
  ASSERT_EQ(profile.stacks.size(), 2u);
  expect_inlined_frames(Symbols(profile, places_with({})).at(profile.stacks[0].addresses[0]));
}

TEST(Symbols, DebugInformationThatIsSplitOffMayBeInAPackage) {
  const HeapProfile profile = run_known_stacks(TARN_PACKED_STACKS);
  ASSERT_EQ(profile.stacks.size(), 2u);
  expect_inlined_frames(Symbols(profile, places_with({})).at(profile.stacks[0].addresses[0]));
}

TEST(Symbols, SectionsMayBeCompressed) {
  const HeapProfile profile = run_known_stacks();
  for (const char* const how : {"zlib-gabi", "zlib-gnu", "zstd"}) {
    const Scratch scratch;
    run(std::string("objcopy --compress-debug-sections=") + how + " " TARN_KNOWN_STACKS " " +
        (scratch / "s").string());
    const Symbols symbols(over_file(profile, scratch / "s"), places_with({}));
    expect_inlined_frames(symbols.at(profile.stacks[0].addresses[0]));
  }
}

TEST(Symbols, ACompressedSymbolTableNames) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  const std::string small = (scratch / "small").string(), bare = (scratch / "bare").string();
  run("objcopy -S -w --keep-symbol='*app5build*' " TARN_KNOWN_STACKS " " + small);
  run("xz " + small + " && strip -o " + bare +
      " " TARN_KNOWN_STACKS " && objcopy --add-section .gnu_debugdata=" + small + ".xz " + bare);
  const Symbols symbols(over_file(profile, bare), places_with({}));
  EXPECT_TRUE(symbols.at(profile.stacks[0].addresses[0]).frames[0].function.starts_with("app::build("));
}

TEST(Symbols, WithoutDebugInformationTheSymbolTableNames) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  run("strip --strip-debug -o " + (scratch / "bare").string() + " " TARN_KNOWN_STACKS);
  const Symbols symbols(over_file(profile, scratch / "bare"), places_with({}));
  const Location& location = symbols.at(profile.stacks[0].addresses[0]);
  ASSERT_EQ(location.frames.size(), 1u);
  EXPECT_TRUE(location.frames[0].function.starts_with("app::build("));
  EXPECT_EQ(location.frames[0].line, 0u);
}

TEST(Symbols, WithoutAnySymbolThereIsTheModuleAndTheOffset) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  run("strip -o " + (scratch / "bare").string() + " " TARN_KNOWN_STACKS);
  const Symbols symbols(over_file(profile, scratch / "bare"), places_with({}));
  const Location& location = symbols.at(profile.stacks[0].addresses[0]);
  EXPECT_TRUE(location.frames[0].function.starts_with("bare+0x")) << location.frames[0].function;
  EXPECT_FALSE(location.has_function);
}

TEST(Symbols, WhatACompilerHasAppendedToANameIsLeftOut) {
  EXPECT_EQ(name_in_words("_ZN3app5buildEv.cold"), "app::build()");
  EXPECT_EQ(name_in_words("_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc.llvm.123"), "alloc::alloc::alloc");
  EXPECT_EQ(name_in_words("_ZN38_$LT$T$u20$as$u20$alloc..vec..Spec$GT$4make17h0123456789abcdefE.llvm.123"),
            "<T as alloc::vec::Spec>::make");
  EXPECT_EQ(name_in_words("plain.name"), "plain.name");
}

TEST(Symbols, AFileOfAnotherBuildIdIsNotBelieved) {
  HeapProfile profile = run_known_stacks();
  profile.modules[0].build_id[0] ^= 1;
  const Symbols symbols(profile, places_of_core());
  EXPECT_TRUE(
      symbols.at(profile.stacks[0].addresses[0]).frames[0].function.starts_with("profile_known_stacks+0x"));
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("another build id"), std::string::npos);
}

TEST(Symbols, ADeletedFileIsOneWarning) {
  HeapProfile profile = run_known_stacks();
  profile.modules[0].path += ".gone (deleted)";
  const Symbols symbols(profile, places_of_core());
  EXPECT_TRUE(symbols.at(profile.stacks[1].addresses[0])
                  .frames[0]
                  .function.starts_with("profile_known_stacks.gone+0x"));
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("deleted or replaced"), std::string::npos);
}

TEST(Symbols, OfAFileThatIsGoneItsMemoryNamesWhatItExports) {
  void* const plugin = dlopen(TARN_PLUGIN, RTLD_NOW);
  ASSERT_NE(plugin, nullptr);
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(plugin, "run"), &info), 0);
  const auto start = reinterpret_cast<std::uint64_t>(info.dli_fbase);
  HeapProfile profile;
  profile.modules = {
      {start, start + 0x10000, 0, TARN_PLUGIN " (deleted)", build_id_of_file(TARN_PLUGIN), start + 0x1000}};
  profile.stacks.resize(1);
  profile.stacks[0].addresses = {reinterpret_cast<std::uint64_t>(info.dli_saddr) + 2};
  const observer::InputFile memory("/proc/self/mem");
  SymbolPlaces places = places_of_core();
  places.files.open = [](const std::string&) { return observer::InputFile(); };
  places.read_memory = [&](std::uint64_t address, void* into, std::size_t bytes) {
    return memory.read(address, into, bytes);
  };
  const Symbols symbols(profile, places);
  EXPECT_EQ(symbols.at(profile.stacks[0].addresses[0]).frames[0].function, "run");
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("what it does not export has no name"), std::string::npos);
  dlclose(plugin);
}

TEST(Symbols, AnAddressInNoModuleIsItsOwnName) {
  HeapProfile profile;
  profile.stacks.resize(1);
  profile.stacks[0].addresses = {0, 1, 0x1234, UINT64_MAX};
  profile.modules = {{0x2000, 0x3000, 0, "[vdso]", ""}};
  std::size_t last = 0;
  const Symbols symbols(profile, places_of_core(), [&](std::size_t done, std::size_t) { last = done; });
  EXPECT_EQ(symbols.at(0x1234).frames[0].function, "0x1234");
  EXPECT_EQ(symbols.at(0).frames[0].function, "0x0");
  EXPECT_EQ(last, 4u);
}

TEST(Symbols, DamagedFilesGiveNamesOrNone) {
  const Scratch scratch;
  const HeapProfile profile = run_known_stacks();
  std::ifstream file(TARN_KNOWN_STACKS, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  std::uint32_t random = 1;
  for (int i = 0; i < 60; ++i) {
    std::string damaged = whole;
    for (int flip = 0; flip < 200; ++flip) {
      random = random * 1664525 + 1013904223;
      damaged[0x400 + random % (damaged.size() - 0x400)] ^= static_cast<char>(random >> 24);
    }
    std::ofstream(scratch / "damaged", std::ios::binary) << damaged;
    const Symbols symbols(over_file(profile, scratch / "damaged"), places_with({}));
    EXPECT_FALSE(symbols.at(profile.stacks[0].addresses[0]).frames.empty());
  }
}

JitNames names_of(std::string_view text) {
  const observer::InputFile file(memfd_create("names", 0));
  EXPECT_EQ(write(file.descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return JitNames(file);
}

TEST(JitNames, AnAddressHasTheNameOfTheCodeThatHoldsIt) {
  const JitNames names = names_of("1000 10 first\n1010 20 second of two\n");
  EXPECT_EQ(names.name_at(0x1000), "first");
  EXPECT_EQ(names.name_at(0x100f), "first");
  EXPECT_EQ(names.name_at(0x1010), "second of two");
  EXPECT_FALSE(names.name_at(0x1030).has_value());
  EXPECT_FALSE(names.name_at(0xfff).has_value());
}

TEST(JitNames, OfCodeThatWasMadeAgainTheLastNameCounts) {
  const JitNames names = names_of("1000 100 old\n1040 10 inner\n1000 20 new\n");
  EXPECT_EQ(names.name_at(0x1010), "new");
  EXPECT_EQ(names.name_at(0x1030), "old");
  EXPECT_EQ(names.name_at(0x1044), "inner");
}

TEST(JitNames, LinesThatAreNoneAreLeftOut) {
  const JitNames names =
      names_of("\nno\n1000\n1000 \n1000 10\n1000 10 \n-1 10 x\n2000 ffffffffffffffff last");
  EXPECT_FALSE(names.name_at(0x1000).has_value());
  EXPECT_EQ(names.name_at(0x2000), "last");
}

TEST(JitNames, NoFileNamesNothing) { EXPECT_FALSE(JitNames(observer::InputFile()).name_at(1).has_value()); }

TEST(ReaderProcess, LinesArriveInOrderAndThenThereIsAnEnd) {
  ReaderProcess reader([](const auto& write) {
    for (int i = 0; i < 10000; ++i) write(std::to_string(i));
  });
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(reader.next_line(60), std::to_string(i));
  EXPECT_FALSE(reader.next_line(60).has_value());
}

TEST(ReaderProcess, AReaderThatFallsEndsAloneAndOneThatHangsIsEnded) {
  ReaderProcess falls([](const auto& write) {
    write("first");
    std::abort();
  });
  EXPECT_EQ(falls.next_line(60), "first");
  EXPECT_FALSE(falls.next_line(60).has_value());
  ReaderProcess hangs([](const auto&) { pause(); });
  EXPECT_FALSE(hangs.next_line(0.01).has_value());
}

TEST(ReaderProcess, AFileThatEndsItsReaderCostsTheNamesOfThatFileAlone) {
  HeapProfile profile;
  profile.stacks.resize(1);
  profile.stacks[0].addresses = {0x1100, 0x2100};
  profile.modules = {{0x1000, 0x2000, 0, "/bad", ""}, {0x2000, 0x3000, 0, "/worse", ""}};
  SymbolPlaces places = places_of_core();
  places.files.open = [](const std::string& path) -> observer::InputFile {
    if (path == "/bad") std::abort();
    return {};
  };
  const Symbols symbols(profile, places);
  EXPECT_EQ(symbols.at(0x1100).frames[0].function, "bad+0x100");
  EXPECT_EQ(symbols.at(0x2100).frames[0].function, "worse+0x100");
  ASSERT_EQ(symbols.warnings().size(), 2u);
  EXPECT_TRUE(symbols.warnings()[0].starts_with("/bad could not be read in time"));
}

}  // namespace
}  // namespace tarn::profile
