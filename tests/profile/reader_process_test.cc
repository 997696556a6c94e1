#include "profile/symbols/reader_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "profile/symbols/symbols.h"

namespace tarn::profile {
namespace {

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
