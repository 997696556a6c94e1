// Names of classes: of the test's own objects, which lie in its own memory, and of forged ones.
#include "observer/objects/class_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "fake_program.h"
#include "observer/objects/demangle.h"
#include "observer/objects/modules.h"

namespace tarn::observer::test {
namespace {

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

}  // namespace

}  // namespace tarn::observer::test
