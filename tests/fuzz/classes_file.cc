// Files of size classes: any bytes; and lists of sizes, most of them tables, which must give each request the
// smallest block of the list that holds it.
#include <algorithm>
#include <functional>
#include <string>

#include "central/classes/class_table.h"
#include "fuzz/program.h"

namespace tarn::fuzz {
namespace {

using namespace internal;

bool is_line(const BlockSizesFault& fault) {
  const std::string_view what(fault.what.data(), fault.what.length());
  return !what.empty() && fault.line != 0 &&
         std::all_of(what.begin(), what.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void check_table(const BlockSizes& sizes) {
  check(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end(),
        "sizes ascend");
  const ClassTable table = make_class_table(sizes);
  const ClassLookup lookup = table.lookup();
  std::size_t request = 1;
  for (const std::uint32_t bytes : sizes) {
    check(may_be_class(bytes), "each size may be a class");
    for (const std::size_t size : {request, (request + bytes) / 2, std::size_t{bytes}}) {
      const ClassGeometry& geometry = table.geometry[lookup.of_size(size)];
      check(geometry.block_bytes == bytes, "a request gets the smallest block that holds it");
      check(geometry.stride >= bytes, "blocks do not overlap");
      const SizeClass aligned = aligned_class_of(lookup, size, 64);
      check(aligned == SizeClass::kNone || table.geometry[aligned].block_bytes >= size,
            "the same when aligned");
    }
    request = bytes + 1;
  }
  check(request == detail::kMediumLimit + 1, "each request up to the largest has a class");
}

void read(std::string_view text) {
  BlockSizes sizes;
  BlockSizesFault fault;
  if (read_block_sizes(text, sizes, fault)) return check_table(sizes);
  check(is_line(fault), "what is refused is refused with one line");
}

/// Steps of bins and between them, ascending but for some, with the ends that a table needs.
std::string choose_list(Program& program) {
  std::string text = "tarn-classes 1\n";
  std::uint32_t last = 0;
  while (!program.is_over() && text.size() < 4096) {
    const std::uint32_t unit = last < detail::kSmallLimit ? 16 : last < detail::kSteppedLimit ? 64 : 2048;
    last = (last / unit + static_cast<std::uint32_t>(program.below(9))) * unit;
    if (last > 24576) break;
    text += std::to_string(last) + (program.flag() ? " " : "\n");
  }
  return text + "32768 262144";
}

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::Program program(data, size);
  if (program.flag()) {
    tarn::fuzz::read(tarn::fuzz::choose_list(program));
  } else {
    tarn::fuzz::read(program.rest());
  }
  return 0;
}
