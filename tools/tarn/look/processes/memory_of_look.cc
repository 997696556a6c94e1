#include "look/processes/memory_of_look.h"

#include "look/processes/screen_text.h"

namespace tarn::tool {

Json memory_json(const Look& look) {
  Json parts = Json::object();
  for (const observer::PartName& part : observer::kParts) parts[part.key] = look.sheet.of(part.part);
  return {{"pid", look.snapshot.pid},
          {"program", look.snapshot.program},
          {"library", look.snapshot.library_version},
          {"library_file", look.snapshot.library},
          {"up_seconds", look.up_seconds ? Json(*look.up_seconds) : Json()},
          {"rss_bytes", look.sheet.rss_bytes},
          {"parts", parts}};
}

std::string memory_line(const Look& look) { return observer::json_text(memory_json(look)) + '\n'; }

std::uint64_t bytes_of(const Json& memory, std::string_view figure) {
  const Json& bytes = figure == "rss" ? memory.at("rss_bytes") : memory.at("parts").at(figure);
  return bytes.get<std::uint64_t>();
}

std::vector<Cell> memory_cells(const Json& memory) {
  const auto sum = [&](std::initializer_list<const char*> figures) {
    std::uint64_t bytes = 0;
    for (const char* figure : figures) bytes += bytes_of(memory, figure);
    return Cell{short_bytes(bytes)};
  };
  return {{short_bytes(bytes_of(memory, "rss")), Style::kHeading},
          sum({"live", "rounding"}),
          sum({"cached", "depot"}),
          sum({"free_in_slabs", "free_pages"}),
          sum({"metadata"}),
          sum({"other"})};
}

}  // namespace tarn::tool
