#include "fuzz/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {

void check(bool is_kept, const char* promise) {
  if (is_kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

Program::Program(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {
  static const char* const name = std::getenv("TARN_FUZZ_LAST");
  static const int file = name == nullptr ? -1 : open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0)
    check(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size),
          "it is written");
}

std::size_t Program::below(std::size_t bound) {
  std::size_t number = 0;
  for (std::size_t range = 1; range < bound; range *= 256) number = number * 256 + byte();
  return bound == 0 ? 0 : number % bound;
}

std::size_t Program::size_between(std::size_t least, std::size_t largest) {
  const std::size_t range = largest - least + 1;
  std::size_t bits = 0;
  while ((range >> bits) > 1) ++bits;
  const std::size_t limit = std::size_t{1} << below(bits + 2);
  return least + below(limit < range ? limit : range);
}

std::string_view Program::rest() {
  const std::string_view text(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(end_ - at_));
  at_ = end_;
  return text;
}

void LiveBlocks::add(void* start, std::size_t size) {
  char* const first = static_cast<char*>(start);
  const auto after = starts_.lower_bound(first);
  check(after == starts_.end() || after->first >= first + size, "a block reaches into the one behind it");
  check(after == starts_.begin() || std::prev(after)->first + std::prev(after)->second <= first,
        "a block begins within the one before it");
  const Block block{first, size, ++patterns_};
  test::fill(first, size, block.pattern);
  starts_.emplace(first, size);
  blocks_.push_back(block);
  bytes_ += size;
}

Block LiveBlocks::take_at(std::size_t index) {
  const Block block = blocks_[index];
  check(test::holds(block.start, block.size, block.pattern), "a block keeps its contents");
  blocks_[index] = blocks_.back();
  blocks_.pop_back();
  starts_.erase(block.start);
  bytes_ -= block.size;
  return block;
}

Block LiveBlocks::take(Program& program) { return take_at(program.below(blocks_.size())); }
Block LiveBlocks::take_last() { return take_at(blocks_.size() - 1); }

void LiveBlocks::check_all() const {
  for (const Block& block : blocks_)
    check(test::holds(block.start, block.size, block.pattern), "a block keeps its contents");
}

void check_invariants() {
  internal::page_cache.validate();
  internal::page_map.validate();
  internal::metadata.validate();
  const internal::PageCacheStats pages = internal::page_cache.stats();
  check(pages.used_bytes + pages.dirty_bytes + pages.clean_bytes == pages.committed_bytes,
        "used + free == committed pages");
}

void check_nothing_is_lost() {
  check_invariants();
  trim();
  check_invariants();
  check(internal::page_cache.stats().used_bytes == 0, "all pages come back once all blocks have");
}

void Run::make_steps(unsigned operations) {
  while (!program_.is_over()) step(program_.byte() % operations);
  check_counts();
  live_.check_all();
}

void Run::run_pool(unsigned operations) {
  make_steps(operations);
  if (program_.byte() % 2 == 0) give_back_all();
  end_pool();
  check_nothing_is_lost();
}

void Run::give_back_one() {
  if (!live_.is_empty()) give_back(live_.take(program_));
}

void Run::give_back_all() {
  while (!live_.is_empty()) give_back(live_.take_last());
}

}  // namespace tarn::fuzz
