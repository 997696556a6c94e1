// Writes pages of `tarn map` for the browser's test: a heap of every kind of span, one of 160,000 pages, one
// that holds nothing, and one with names that look like markup. Usage: map_page_samples DIRECTORY
#include <fmt/format.h>

#include <random>

#include "hand_made.h"
#include "look/map/map_document.h"
#include "system/files/files.h"

namespace {

using namespace tarn::observer;

void write(const std::filesystem::path& file, const Snapshot& snapshot, const Residency* residency) {
  tarn::tool::write_file(file, tarn::tool::map_page(page_map_of(snapshot, residency), snapshot, residency));
}

/// 10 GiB in 40 classes after a peak: fills from full to nearly empty, and given-back pages between.
Snapshot make_large_heap() {
  test::HandMade made;
  std::vector<std::uint32_t> classes;
  for (std::uint64_t i = 1; i <= 40; ++i) classes.push_back(made.add_class(i * i * 16));
  for (int i = 0; i < 8; ++i) made.add_thread(made.add_owner(), 1000);
  std::mt19937_64 random(4711);
  const std::uint32_t big_blocks = made.add_pool(PoolKind::kFixed, "packets", 2048);
  for (int i = 0; i < 160'000;) {
    const std::uint32_t size_class = classes[random() % classes.size()];
    const std::uint64_t run = 1 + random() % 24, owner = random() % 8;
    for (std::uint64_t j = 0; j < run; ++j, ++i) {
      const std::uint64_t count = test::kPage / made.edit().classes[size_class].block_bytes;
      const std::uint64_t live = random() % 3 == 0 ? 1 + random() % (1 + count / 20) : 1 + random() % count;
      made.add_slab(size_class, static_cast<std::uint32_t>(std::min(live, count)),
                    static_cast<std::uint32_t>(owner));
    }
    if (random() % 20 == 0) made.add_large(9 * test::kPage, 8 * test::kPage + 999), i += 9;
    if (random() % 30 == 0) made.add_free((1 + random() % 40) * test::kPage, random() % 3 == 0), i += 20;
    if (random() % 50 == 0) made.add_pool_span(big_blocks, SpanUse::kSlab, 32 * test::kPage, 200), i += 32;
  }
  return made.snapshot();
}

Snapshot make_odd_names() {
  test::HandMade made;
  made.edit().program = "<b>&\"bad\"</script>";
  const std::uint32_t pool = made.add_pool(PoolKind::kFixed, "<img src=x onerror=alert(1)>", 2048);
  made.add_pool_span(pool, SpanUse::kSlab, 4 * test::kPage, 10);
  return made.snapshot();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: map_page_samples DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  const Snapshot mixed = test::make_mixed_heap(), large = make_large_heap(), odd = make_odd_names();
  const Residency of_mixed = test::all_resident(mixed), of_large = test::all_resident(large);
  write(directory / "mixed.html", mixed, &of_mixed);
  write(directory / "large.html", large, &of_large);
  write(directory / "empty.html", test::HandMade().snapshot(), nullptr);
  write(directory / "odd.html", odd, nullptr);
}
