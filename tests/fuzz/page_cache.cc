// The page cache alone: runs of pages taken, extended, given back whole and in parts, purged with time.
#include "page/give_back/page_cache.h"

#include <cstring>

#include "base/units.h"
#include "fuzz/program.h"

namespace tarn::fuzz {
namespace {

using namespace internal;

constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::uint32_t kMostPages = 2 * kPagesPerChunk + 8;

PageCount pages_of(const Block& run) { return pages_for(run.size); }

class PageCacheRun final : public Run {
 public:
  explicit PageCacheRun(Program& program) : Run(program) {
    page_cache.configure({program.flag() ? 0 : program.below(1 << 24), SIZE_MAX, std::size_t{64} << 20});
  }

  void run() {
    make_steps(12);
    give_back_all();
    page_cache.keep_nothing();
    check_counts();
    page_cache.purge(SIZE_MAX);
    check_counts();
    check(page_cache.dirty_bytes() == 0, "a purge leaves nothing dirty");
  }

 private:
  void step(unsigned operation) override {
    switch (operation) {
      case 0:
      case 1:
      case 2:
      case 3:
        return allocate();
      case 4:
        return extend();
      case 5:
        return give_back_part();
      case 6:
        page_cache.purge(program_.below(1 << 24));
        return check_counts();
      case 7:
        page_cache.purge(page_cache.unused_since_tick());
        return check_counts();
      case 8:
        program_.flag() ? page_cache.keep(program_.below(1 << 22)) : page_cache.keep_nothing();
        return;
      case 9:
        page_cache.give_back_at_once(SIZE_MAX);
        return check_counts();
      default:
        give_back_one();
    }
  }

  void allocate() {
    if (live_.bytes() > kMostBytes) return;
    const auto pages = static_cast<PageCount>(program_.size_between(1, kMostPages));
    const Density density = program_.flag() ? Density::kDense : Density::kSparse;
    const std::size_t alignment = kPageBytes << program_.below(4);
    const auto room = static_cast<PageCount>(program_.below(8));
    const PageRun run = page_cache.allocate_pages(pages, density, alignment, room);
    check(run.start != nullptr, "pages are not refused");
    check(address_of(run.start) % alignment == 0, "a run is aligned as asked");
    check(!run.is_zeroed || is_zero(run.start, pages), "a run that is called zero is");
    live_.add(run.start, bytes_of(pages));
  }

  void extend() {
    if (live_.is_empty()) return;
    const Block run = live_.take(program_);
    const auto more = static_cast<PageCount>(program_.size_between(1, kMostPages));
    bool is_zeroed = false;
    const bool has_grown = page_cache.try_extend(run.start + run.size, more, &is_zeroed);
    check(!has_grown || !is_zeroed || is_zero(run.start + run.size, more), "pages that are called zero are");
    check(test::holds(run.start, run.size, run.pattern), "a run keeps its contents");
    live_.add(run.start, run.size + (has_grown ? bytes_of(more) : 0));
  }

  // The pages at its end, or those in its middle.
  void give_back_part() {
    if (live_.is_empty()) return;
    const Block run = live_.take(program_);
    const PageCount pages = pages_of(run);
    const auto first = static_cast<PageCount>(program_.below(number_of(pages)));
    const PageCount end = first + static_cast<PageCount>(1 + program_.below(number_of(pages - first)));
    page_cache.free_pages(run.start + bytes_of(first), end - first, PageState::kDirty);
    if (first != PageCount{0}) live_.add(run.start, bytes_of(first));
    if (end != pages) live_.add(run.start + bytes_of(end), run.size - bytes_of(end));
  }

  void give_back(const Block& run) override {
    page_cache.free_pages(run.start, pages_of(run), PageState::kDirty);
  }

  // Of larger runs the ends of each page.
  static bool is_zero(const char* start, PageCount pages) {
    for (const char* const end = start + bytes_of(pages); start != end; start += kPageBytes)
      if (!test::is_zero(start, 64) || !test::is_zero(start + kPageBytes - 64, 64)) return false;
    return true;
  }

  void check_counts() const override {
    check_invariants();
    check(page_cache.stats().used_bytes == live_.bytes(), "the page cache counts the pages in use");
  }
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::Program program(data, size);
  tarn::fuzz::PageCacheRun(program).run();
  return 0;
}
