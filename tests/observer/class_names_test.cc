#include "observer/objects/class_names.h"

#include "fake_program.h"
#include "observer/objects/census.h"
#include "observer/objects/demangle.h"
#include "observer/objects/joined_reader.h"
#include "observer/objects/symbols.h"
#include "support/prelude.h"

namespace tarn::observer::test {
namespace {

// -- Names of classes: of the test's own objects, which lie in its own memory, and of forged ones.

struct Quest {
  virtual ~Quest() = default;
};
template <typename T>
struct Chest : Quest {
  T content = {};
};

Address first_word(const void* object) {
  Address word;
  std::memcpy(&word, object, sizeof word);
  return word;
}

TEST(ClassNames, TellTheClassesOfObjectsInThisProcess) {
  const std::unique_ptr<Source> source = open_own_process();
  ClassNames names(*source);
  const Quest quest;
  const Chest<std::string> chest;
  EXPECT_EQ(names.name_of(first_word(&quest)), "tarn::observer::test::(anonymous namespace)::Quest");
  EXPECT_EQ(short_class_name(names.name_of(first_word(&chest))),
            "tarn::observer::test::(anonymous namespace)::Chest<std::string>");
}

TEST(ClassNames, TellTheClassesOfALibrary) {
  const std::unique_ptr<Source> source = open_own_process();
  ClassNames names(*source);
  const std::runtime_error error("of libstdc++");
  EXPECT_EQ(names.name_of(first_word(&error)), "std::runtime_error");
}

TEST(ClassNames, ShowASharedObjectByItsOwnClass) {
  EXPECT_EQ(short_class_name("std::_Sp_counted_ptr_inplace<Quest, std::allocator<void>, "
                             "(__gnu_cxx::_Lock_policy)2>"),
            "shared Quest");
  EXPECT_EQ(short_class_name("std::_Sp_counted_ptr_inplace<std::map<int, void (*)(int, int)>, A>"),
            "shared std::map<int, void (*)(int, int)>");
  EXPECT_EQ(short_class_name("std::_Sp_counted_ptr<Quest*, (__gnu_cxx::_Lock_policy)2>"), "count of Quest*");
  EXPECT_EQ(short_class_name("std::__1::__shared_ptr_emplace<Quest, std::__1::allocator<Quest> >"),
            "shared Quest");
}

TEST(ClassNames, GiveNoNameToPointersThatAreNoTables) {
  const std::unique_ptr<Source> source = open_own_process();
  ClassNames names(*source);
  static const char* const kTexts[] = {"one", "two"};
  const int local = 0;
  EXPECT_EQ(names.name_of(reinterpret_cast<Address>(kTexts)), "");
  EXPECT_EQ(names.name_of(reinterpret_cast<Address>(&local)), "");
  EXPECT_EQ(names.name_of(0), "");
  EXPECT_EQ(names.name_of(~Address{0}), "");
}

/// A virtual table at kTable, a type_info at kType and the type_info's own table and type.
class ForgedTable : public ::testing::Test {
 protected:
  static constexpr Address kFile = 0x400000, kTable = kFile + 0x110, kType = kFile + 0x200,
                           kTypeTable = kFile + 0x310, kTypeOfType = kFile + 0x400, kNames = kFile + 0x800;

  ForgedTable() {
    program_.map(kFile, 8192, "/bin/forged", false);
    program_.write_word(kTable - 8, kType);
    program_.write_word(kType, kTypeTable);
    program_.write_word(kType + 8, kNames);
    program_.write_word(kTypeTable - 8, kTypeOfType);
    program_.write_word(kTypeOfType, kTypeTable);
    program_.write_word(kTypeOfType + 8, kNames + 0x100);
    program_.write_text(kNames, "*5Quest");
    program_.write_text(kNames + 0x100, "N10__cxxabiv117__class_type_infoE");
  }
  std::string name() { return ClassNames(program_).name_of(kTable); }

  FakeProgram program_;
};

TEST_F(ForgedTable, HasAName) { EXPECT_EQ(name(), "Quest"); }

TEST_F(ForgedTable, OfAPartOfAnObjectHasNone) {
  program_.write_word(kTable - 16, static_cast<Address>(-16));
  EXPECT_EQ(name(), "");
}

TEST_F(ForgedTable, WhoseTypeIsNoneOfTheAbiHasNone) {
  program_.write_text(kNames + 0x100, "N10__cxxabiv120__function_type_infoE");
  EXPECT_EQ(name(), "");
}

TEST_F(ForgedTable, WhoseNameDoesNotEndHasNone) {
  const std::string endless(8192 - 0x800 - 1, '5');
  program_.write(kNames, endless.data(), endless.size());
  EXPECT_EQ(name(), "");
}

TEST_F(ForgedTable, WhoseTypeLiesNowhereHasNone) {
  program_.write_word(kTable - 8, 0xdead'beef'0000);
  EXPECT_EQ(name(), "");
}

TEST_F(ForgedTable, WhoseNameHasAnEscapeSequenceHasNone) {
  program_.write_text(kNames, "5\033[2Jx");
  EXPECT_EQ(name(), "");
}

/// P<P<...>, P<...>>, each level twice as long as the one inside of it, by references to what came before.
std::string doubled_type(int levels) {
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string type = "1PI";
  for (int i = 1; i < levels; ++i) type += "S_I";
  type += "1A";
  for (int i = 0; i < levels; ++i) type += std::string("S") + digits[static_cast<std::size_t>(i)] + "_E";
  return type;
}

TEST(Demangle, GivesUpANameThatStandsForAnEndlessOne) {
  EXPECT_EQ(demangle_type(doubled_type(2)), "P<P<A, A>, P<A, A> >");
  EXPECT_FALSE(demangle_type(doubled_type(34)).has_value());
}

TEST(Demangle, ReadsTypesAndTables) {
  EXPECT_EQ(demangle_type("5Quest"), "Quest");
  EXPECT_EQ(demangle_type("St6vectorIiSaIiEE"), "std::vector<int, std::allocator<int> >");
  EXPECT_EQ(demangle_class_of_table("_ZTV5Quest"), "Quest");
  EXPECT_FALSE(demangle_class_of_table("_ZTI5Quest").has_value());
  EXPECT_FALSE(demangle("no mangled name").has_value());
  EXPECT_EQ(demangle("_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc"), "alloc::alloc::alloc");
  EXPECT_EQ(demangle("_RINvCs1234_2rs12generic_makeyEB2_"), "rs::generic_make::<u64>");
  EXPECT_EQ(demangle("_ZN4core3ptr4drop17h0123456789abcdefE"), "core::ptr::drop");
}

TEST(Modules, JoinTheMappingsOfAFileAndWhatFollowsIt) {
  FakeProgram program;
  program.map(0x1000, 0x1000, "/bin/a");
  program.map(0x2000, 0x1000, "/bin/a");
  program.map(0x3000, 0x1000);  // .bss
  program.map(0x4000, 0x1000);  // another one's
  program.map(0x5000, 0x1000, "[heap]");
  program.map(0x7000, 0x1000, "/lib/b");
  const Modules modules(program.mappings());
  ASSERT_EQ(modules.all().size(), 2U);
  EXPECT_EQ(modules.all()[0].end, 0x4000U);
  EXPECT_EQ(modules.find(0x3fff)->path, "/bin/a");
  EXPECT_EQ(modules.find(0x4000), nullptr);
  EXPECT_EQ(modules.find(0x5000), nullptr);
  EXPECT_EQ(modules.find(0x7000)->path, "/lib/b");
  EXPECT_EQ(modules.find(0x8000), nullptr);
  EXPECT_EQ(modules.find(0), nullptr);
}

// -- The census on memory made by hand.

constexpr Address kHeap = 0x7f00'0000'0000, kFile = 0x40'0000;

/// A file with a virtual table of Quest, and a slab of 100 blocks of 48 bytes.
class Counted : public ::testing::Test {
 protected:
  static constexpr Address kTable = kFile + 0x110, kType = kFile + 0x200, kTypeTable = kFile + 0x310,
                           kTypeOfType = kFile + 0x400;
  Counted() {
    program_.map(kFile, 4096, "/bin/program", false);
    program_.write_word(kTable - 8, kType);
    program_.write_word(kType, kTypeTable);
    program_.write_word(kType + 8, kFile + 0x800);
    program_.write_word(kTypeTable - 8, kTypeOfType);
    program_.write_word(kTypeOfType, kTypeTable);
    program_.write_word(kTypeOfType + 8, kFile + 0x900);
    program_.write_text(kFile + 0x800, "5Quest");
    program_.write_text(kFile + 0x900, "N10__cxxabiv120__si_class_type_infoE");
    program_.map(kHeap, 8 * kPageBytes);
    add_slab(snapshot_, kHeap, 48, 100);
  }
  void make_quest(std::uint32_t number) { program_.write_word(kHeap + Address{number} * 48, kTable); }
  Census census(Contents contents = Contents::kRead) {
    ClassNames names(program_);
    return take_census(program_, snapshot_, names, contents);
  }

  FakeProgram program_;
  Snapshot snapshot_;
};

TEST_F(Counted, BlocksAreCountedByClassAndTheOthersBySize) {
  for (std::uint32_t i = 0; i < 60; ++i) make_quest(i);
  end_block(snapshot_, 0, 0);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 2U);
  EXPECT_EQ(counted.groups[0].class_name, "Quest");
  EXPECT_EQ(counted.groups[0].blocks, 59U);
  EXPECT_EQ(counted.groups[1].block_bytes, 48U);
  EXPECT_EQ(counted.groups[1].bytes, 40U * 48);
  EXPECT_EQ(counted.class_blocks, 59U);
  EXPECT_EQ(counted.blocks, 99U);
}

TEST_F(Counted, WithoutContentsAllAreCountedBySize) {
  make_quest(1);
  const Census counted = census(Contents::kLeave);
  ASSERT_EQ(counted.groups.size(), 1U);
  EXPECT_FALSE(counted.groups[0].is_class());
  EXPECT_EQ(counted.groups[0].blocks, 100U);
}

TEST_F(Counted, BlocksOfPoolsAreCountedUnderTheirPools) {
  make_quest(1);
  add_slab(snapshot_, kHeap + kPageBytes, 48, 10);
  snapshot_.spans[1].pool = add_pool(snapshot_, "quests");
  program_.write_word(kHeap + kPageBytes, kTable);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 4U);
  EXPECT_EQ(counted.groups[1].pool, "quests");
  EXPECT_EQ(counted.groups[1].blocks, 9U);
}

TEST_F(Counted, SensitivePoolsAreNotRead) {
  add_slab(snapshot_, kHeap + kPageBytes, 48, 10);
  snapshot_.spans[1].pool = add_pool(snapshot_, "keys", true);
  program_.write_word(kHeap + kPageBytes, kTable);
  const Census counted = census();
  EXPECT_EQ(counted.class_blocks, 0U);
  EXPECT_EQ(counted.sensitive_blocks, 10U);
}

TEST_F(Counted, LargeBlocksAreCountedByPowersOfTwo) {
  add_large(snapshot_, kHeap + 2 * kPageBytes, 70'000);
  add_large(snapshot_, kHeap + 4 * kPageBytes, 100'000);
  const Census counted = census();
  ASSERT_EQ(counted.groups.size(), 2U);
  EXPECT_EQ(counted.groups[0].block_bytes, 131'072U);
  EXPECT_EQ(counted.groups[0].bytes, 170'000U);
}

TEST_F(Counted, BlocksThatCannotBeReadAreCountedBySizeAndTold) {
  add_slab(snapshot_, kHeap + (Address{1} << 30), 64, 5);
  const Census counted = census();
  EXPECT_EQ(counted.unread_bytes, 5U * 8);
  EXPECT_EQ(counted.blocks, 105U);
}

TEST(Growth, ComparesGroupsByTheirNames) {
  const std::vector<CensusGroup> before = {
      {"Quest", 0, "", 10, 480}, {"", 64, "", 5, 320}, {"Gone", 0, "", 1, 9}};
  const std::vector<CensusGroup> now = {
      {"Quest", 0, "", 30, 1440}, {"", 64, "", 5, 320}, {"Quest", 0, "p", 1, 48}};
  const std::vector<Growth> growth = growth_since(before, now);
  ASSERT_EQ(growth.size(), 3U);
  EXPECT_EQ(growth[0].blocks, 20);
  EXPECT_EQ(growth[0].bytes, 960);
  EXPECT_EQ(growth[1].group.pool, "p");
  EXPECT_EQ(growth[2].group.class_name, "Gone");
  EXPECT_EQ(growth[2].bytes, -9);
}

/// A source that counts its calls.
class CountingProgram : public Source {
 public:
  explicit CountingProgram(const Source& program) : program_(program) {}
  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    ++calls;
    return program_.read(address, into, bytes);
  }
  std::span<const Mapping> mappings() const override { return program_.mappings(); }
  SourceKind kind() const override { return SourceKind::kCore; }
  int pid() const override { return 0; }
  std::string program() const override { return {}; }

  mutable int calls = 0;

 private:
  const Source& program_;
};

constexpr Address kStart = 0x10'0000;

class Joined : public ::testing::Test {
 protected:
  Joined() : source_(program_) { program_.map(kStart, 4 << 20); }
  auto reader() {
    const auto use = [this](int tag, const std::byte* content, std::size_t bytes) {
      std::memcpy(&words_[tag], content, std::min(bytes, sizeof(Address)));
      used_bytes_ += bytes;
    };
    return JoinedReader<int, decltype(use)>(source_, use);
  }

  FakeProgram program_;
  CountingProgram source_;
  std::map<int, Address> words_;
  std::size_t used_bytes_ = 0;
};

TEST_F(Joined, NeighboursAreReadInOneCallAndEachGetsItsOwnBytes) {
  auto joined = reader();
  for (int i = 0; i < 1000; ++i) {
    program_.write_word(kStart + Address(i) * 48, Address(i));
    joined.want(kStart + Address(i) * 48, 8, i);
  }
  joined.flush();
  EXPECT_EQ(source_.calls, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(words_[i], Address(i));
}

TEST_F(Joined, WhatLiesFarApartIsReadAlone) {
  auto joined = reader();
  for (int i = 0; i < 10; ++i) joined.want(kStart + Address(i) * 65536, 8, i);
  joined.flush();
  EXPECT_EQ(source_.calls, 10);
  EXPECT_EQ(joined.read_bytes(), 80U);
}

TEST_F(Joined, APieceIsNeverLongerThanItsLimit) {
  auto joined = reader();
  for (int i = 0; i < 1024; ++i) joined.want(kStart + Address(i) * 4096, 4096, i);
  joined.flush();
  EXPECT_EQ(source_.calls, 4);
}

TEST_F(Joined, WhatLiesBehindAHoleIsReadAndTheHoleIsTold) {
  const Address second = kStart + (4 << 20) + 8192;
  program_.map(second, 4096);
  program_.write_word(second, 7);
  auto joined = reader();
  joined.want(second - 8192 - 8, 8, 1);
  joined.want(second - 16, 16 + 8, 2);
  joined.want(second, 8, 3);
  joined.flush();
  EXPECT_EQ(words_[3], 7U);
  EXPECT_EQ(joined.unread_bytes(), 16U);
  EXPECT_EQ(used_bytes_, 24U);
}

}  // namespace
}  // namespace tarn::observer::test
