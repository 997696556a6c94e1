// The last column of tables of `tarn heap`, whose names may hold any character.
#include "look/heap/heap_report.h"

#include "support/prelude.h"

namespace tarn::tool {
namespace {

std::string repeated(const std::string& character, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += character;
  return text;
}

observer::Snapshot server() {
  observer::Snapshot snapshot;
  snapshot.program = "server";
  return snapshot;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(HeapReport, NamesAreCutBetweenCharacters) {
  observer::Census census;
  census.groups = {{.class_name = repeated("ä", 60), .block_bytes = 0, .pool = "", .blocks = 2, .bytes = 64},
                   {.class_name = repeated("ö", 45), .block_bytes = 0, .pool = "", .blocks = 1, .bytes = 32}};
  census.bytes = census.class_bytes = 96;
  const std::string text = heap_report(server(), census, observer::Contents::kRead, {.rows = 0, .width = 80});
  EXPECT_TRUE(has(text, "  " + repeated("ä", 44) + "…\n")) << text;
  EXPECT_TRUE(has(text, "  " + repeated("ö", 45) + "\n")) << text;
}

TEST(HeapReport, ANameLeavesRoomForThePoolBehindIt) {
  const std::vector<observer::Growth> growth = {{{.class_name = repeated("ä", 60),
                                                  .block_bytes = 0,
                                                  .pool = repeated("ü", 30),
                                                  .blocks = 2,
                                                  .bytes = 64},
                                                 1,
                                                 32}};
  const std::string text = growth_report(title_of(server()), growth, 1, {.rows = 0, .width = 80});
  EXPECT_TRUE(has(text, "  äää… in " + repeated("ü", 19) + "…\n")) << text;
}

}  // namespace
}  // namespace tarn::tool
