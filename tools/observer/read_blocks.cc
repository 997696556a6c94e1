// The blocks of spans: which of them are live.
#include <algorithm>
#include <bit>
#include <numeric>

#include "observer/reading.h"

namespace tarn::observer {
namespace {

constexpr std::uint64_t kMostStride = std::uint64_t{1} << 48;
constexpr std::uint64_t kCacheLineBytes = 64;

/// Where the fields of a span lie, and what its kinds are.
struct Fields {
  explicit Fields(const Layout& layout)
      : record(layout.size_of("span")),
        start(layout.field("span.start")),
        free_bits(layout.field("span.free_bits")),
        remote_bits(layout.field("span.remote_bits")),
        pool(layout.field("span.pool")),
        pool_data(layout.field("span.pool_data")),
        stride(layout.field("span.stride")),
        pool_blocks(layout.field("span.pool_blocks")),
        owner(layout.field("span.owner")),
        block_count(layout.field("span.block_count")),
        size_class(layout.field("span.size_class")),
        kind(layout.field("span.kind")),
        slab(layout.value("kind.slab")),
        large(layout.value("kind.large")),
        cached(layout.value("kind.cached")),
        of_pool(layout.value("kind.pool")),
        mixed_granules(layout.value("mixed.granules")),
        granule_bytes(layout.value("mixed.granule_bytes")) {}

  std::uint32_t record;
  Field start, free_bits, remote_bits, pool, pool_data, stride, pool_blocks, owner, block_count, size_class,
      kind;
  std::uint32_t slab, large, cached, of_pool, mixed_granules, granule_bytes;
};

/// The words of bits at an address, or zeros where memory is not there.
class Words {
 public:
  Words(Image& image, Address start, std::uint32_t count)
      : bytes_(image.view(start, std::uint64_t{count} * sizeof(std::uint64_t))) {}
  bool is_there() const { return bytes_ != nullptr; }
  std::uint64_t operator[](std::uint32_t word) const {
    std::uint64_t bits;
    std::memcpy(&bits, bytes_ + std::uint64_t{word} * sizeof bits, sizeof bits);
    return bits;
  }
  bool test(std::uint32_t bit) const { return ((*this)[bit / 64] >> bit % 64 & 1) != 0; }

 private:
  const std::byte* bytes_;
};

/// The bits of a last word that have blocks.
constexpr std::uint64_t valid_bits(std::uint32_t block_count, std::uint32_t word) {
  const std::uint32_t left = block_count - word * 64;
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

class BlockReader {
 public:
  explicit BlockReader(Reading& reading)
      : reading_(reading), snapshot_(reading.snapshot), fields_(reading.layout), layout_(reading.layout) {}

  /// \returns whether what was read can be true.
  bool read(std::uint32_t index) {
    Span& span = snapshot_.spans[index];
    const Address address = reading_.span_records[index];
    const std::byte* const record = reading_.image.view(address, fields_.record);
    if (record == nullptr) return false;
    span.first_block = number_at(record, fields_.start);
    if (span.first_block < span.start || span.first_block >= span.end()) return false;
    const std::uint64_t kind = number_at(record, fields_.kind);
    if (kind == fields_.slab) return read_slab(span, address, record);
    if (kind == fields_.large) return read_large(span, SpanUse::kLarge);
    if (kind == fields_.cached) return read_large(span, SpanUse::kCachedLarge);
    if (kind == fields_.of_pool) return read_of_pool(span, address, record);
    // A span that a heap's buffer has is of no kind; its pool says what it is.
    return number_at(record, fields_.pool) != 0 && read_of_pool(span, address, record);
  }

 private:
  bool read_large(Span& span, SpanUse use) {
    span.use = use;
    span.block_count = 1;
    span.block_bytes = span.end() - span.first_block;
    span.stride = 0;
    if (use == SpanUse::kLarge)
      set_live(span, [](std::uint32_t) { return std::uint64_t{1}; });
    else
      set_live(span, [](std::uint32_t) { return std::uint64_t{0}; });
    return true;
  }

  bool read_slab(Span& span, Address address, const std::byte* record) {
    span.owner = index_in(reading_.owner_at, number_at(record, fields_.owner));
    span.use = reading_.spare_slabs.contains(address) ? SpanUse::kSpareSlab : SpanUse::kSlab;
    if (!read_class(span, record) || !read_count(span, record)) return false;
    const ClassUse& of_class = snapshot_.classes[span.size_class];
    span.pool = of_class.pool;
    if (span.use == SpanUse::kSpareSlab) {
      set_live(span, [](std::uint32_t) { return std::uint64_t{0}; });
      return true;
    }
    const std::uint32_t words = word_count_of(span.block_count);
    const Words free(reading_.image, number_at(record, fields_.free_bits), words);
    const Words remote(reading_.image, number_at(record, fields_.remote_bits), words);
    if (!free.is_there() || !remote.is_there()) return false;
    set_live(span, [&](std::uint32_t word) { return ~(free[word] | remote[word]); });
    return true;
  }

  bool read_class(Span& span, const std::byte* record) {
    const std::uint64_t size_class = number_at(record, fields_.size_class);
    if (size_class >= snapshot_.classes.size()) return false;
    span.size_class = static_cast<std::uint8_t>(size_class);
    const ClassUse& of_class = snapshot_.classes[size_class];
    if (size_class != 0) span.block_bytes = of_class.block_bytes;
    return size_class == 0 || of_class.block_bytes != 0;
  }

  bool read_count(Span& span, const std::byte* record) {
    span.block_count = static_cast<std::uint32_t>(number_at(record, fields_.block_count));
    span.stride = static_cast<std::uint32_t>(number_at(record, fields_.stride));
    return fits(span);
  }

  static bool fits(const Span& span) {
    if (span.block_count == 0) return false;
    if (span.block_count == 1) return true;  // the stride of a large block may be cut off
    return span.stride != 0 && span.stride < kMostStride &&
           std::uint64_t{span.stride} * span.block_count <= span.end() - span.first_block;
  }

  bool read_of_pool(Span& span, Address address, const std::byte* record) {
    const Address pool = number_at(record, fields_.pool) & ~Address{1};
    span.pool = index_in(reading_.pool_at, pool);
    if (reading_.spare_pages.contains(address)) {
      span.use = SpanUse::kSparePage;
      return true;
    }
    if (span.pool == kNone) return pool == 0;  // a table of the library's own
    const Pool& of = snapshot_.pools[span.pool];
    const std::uint64_t kind = reading_.number(of.record, layout_.field("pool.record"));
    if (kind == layout_.value("pool_record.fixed")) return read_fixed_chunk(span, record);
    if (kind == layout_.value("pool_record.handle")) return read_handle_chunk(span, record);
    if (kind == layout_.value("pool_record.heap")) return read_heap_slab(span, record);
    return true;
  }

  bool read_fixed_chunk(Span& span, const std::byte* record) {
    span.use = SpanUse::kFixedChunk;
    span.stride = static_cast<std::uint32_t>(number_at(record, fields_.stride));
    span.block_bytes = span.stride;
    span.block_count = static_cast<std::uint32_t>(number_at(record, fields_.pool_blocks));
    if (!fits(span)) return false;
    const Address bits = number_at(record, fields_.free_bits);
    const std::uint32_t words = word_count_of(span.block_count);
    const Words free(reading_.image, bits, words);
    if (!free.is_there()) return false;
    const Pool& pool = snapshot_.pools[span.pool];
    if (reading_.number(pool.record, layout_.field("fixed.magazines")) == 0) {
      set_live(span, [&](std::uint32_t word) { return ~free[word]; });
      return true;
    }
    const std::uint64_t bytes_of_bits =
        (words + std::uint64_t{layout_.value("fixed_chunk.behind")}) * sizeof(std::uint64_t);
    const Address lives = bits + (bytes_of_bits + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    return set_live_by_bytes(span, lives, free);
  }

  /// What is live by its byte; what is neither that nor free by its bit is at hand.
  bool set_live_by_bytes(Span& span, Address lives, const Words& free) {
    const std::byte* const bytes = reading_.image.view(lives, span.block_count);
    if (bytes == nullptr) return false;
    set_live(span, [&](std::uint32_t word) {
      std::uint64_t live = 0;
      const std::uint32_t first = word * 64, end = std::min(first + 64, span.block_count);
      for (std::uint32_t block = first; block < end; ++block)
        live |= std::uint64_t{bytes[block] != std::byte{0}} << (block - first);
      span.cached += static_cast<std::uint32_t>(
          std::popcount(~(live | free[word]) & valid_bits(span.block_count, word)));
      return live;
    });
    return true;
  }

  bool read_handle_chunk(Span& span, const std::byte* record) {
    span.use = SpanUse::kHandleChunk;
    const Address chunk = number_at(record, fields_.free_bits);
    span.stride = static_cast<std::uint32_t>(number_at(record, fields_.stride));
    span.block_bytes = span.stride;
    span.block_count =
        static_cast<std::uint32_t>(reading_.number(chunk, layout_.field("handle_chunk.usable")));
    if (!fits(span)) return false;
    const std::byte* const generations = reading_.image.view(chunk + layout_.size_of("handle_chunk"),
                                                             span.block_count * sizeof(std::uint32_t));
    if (generations == nullptr) return false;
    set_live(span, [&](std::uint32_t word) {
      std::uint64_t live = 0;
      const std::uint32_t first = word * 64, end = std::min(first + 64, span.block_count);
      for (std::uint32_t slot = first; slot < end; ++slot)
        live |= (number_at(generations, {static_cast<std::uint32_t>(slot * sizeof(std::uint32_t)),
                                         sizeof(std::uint32_t)}) &
                 1)
                << (slot - first);
      return live;
    });
    return true;
  }

  bool read_heap_slab(Span& span, const std::byte* record) {
    span.use = SpanUse::kHeapSlab;
    if (!read_class(span, record)) return false;
    const auto block_count = static_cast<std::uint32_t>(number_at(record, fields_.block_count));
    if (span.size_class == 0 && block_count == fields_.mixed_granules) return read_mixed_page(span, record);
    if (!read_count(span, record)) return false;
    if (span.size_class == 0) span.block_bytes = span.end() - span.first_block;
    const Words free(reading_.image, number_at(record, fields_.free_bits), word_count_of(span.block_count));
    if (!free.is_there()) return false;
    const Address lives = number_at(record, fields_.pool_data);
    if (lives != 0) return set_live_by_bytes(span, lives, free);
    set_live(span, [&](std::uint32_t word) { return ~free[word]; });
    return true;
  }

  /// A bit for each granule that is free, and one for each that ends a block.
  bool read_mixed_page(Span& span, const std::byte* record) {
    span.use = SpanUse::kMixedPage;
    const std::uint32_t granules = fields_.mixed_granules, words = word_count_of(granules);
    const Words free(reading_.image, number_at(record, fields_.free_bits), words);
    const Words ends(reading_.image, number_at(record, fields_.remote_bits), words);
    if (!free.is_there() || !ends.is_there()) return false;
    if (std::uint64_t{granules} * fields_.granule_bytes > span.bytes) return false;
    span.first_mixed = static_cast<std::uint32_t>(snapshot_.mixed_blocks.size());
    const auto span_index = static_cast<std::uint32_t>(&span - snapshot_.spans.data());
    const std::vector<std::uint32_t> at_hand = at_hand_of(span, span_index);
    for (std::uint32_t granule = 0; granule < granules;) {
      if (free.test(granule)) {
        ++granule;
        continue;
      }
      const std::uint32_t first = granule;
      while (granule < granules && !ends.test(granule) && !free.test(granule)) ++granule;
      if (granule < granules && !free.test(granule)) ++granule;
      const std::uint64_t bytes = std::uint64_t{granule - first} * fields_.granule_bytes;
      ++span.block_count;
      if (std::ranges::find(at_hand, first) != at_hand.end()) {
        ++span.cached;
        continue;
      }
      snapshot_.mixed_blocks.push_back(
          {span.start + std::uint64_t{first} * fields_.granule_bytes, bytes, span_index});
      ++span.live;
      span.live_bytes += bytes;
    }
    return true;
  }

  /// The granules of freed blocks that the heap keeps in its first mixed page.
  std::vector<std::uint32_t> at_hand_of(const Span& span, std::uint32_t span_index) {
    std::vector<std::uint32_t> granules;
    const Address slabs = snapshot_.pools[span.pool].record + layout_.value("heap_pool.slabs");
    const Field list = layout_.field("heap_slabs.mixed");
    if (reading_.number(slabs, {list.offset, sizeof(Address)}) != reading_.span_records[span_index])
      return granules;
    const Field sizes = layout_.field("heap_slabs.mixed_of"), count = layout_.field("mixed.at_hand_count"),
                places = layout_.field("mixed.at_hand");
    const std::byte* const of =
        reading_.image.view(slabs + sizes.offset, std::uint64_t{sizes.size} * layout_.value("mixed_sizes"));
    if (of == nullptr) return granules;
    for (std::uint32_t size = 0; size < layout_.value("mixed_sizes"); ++size) {
      const std::byte* const mixed = of + std::uint64_t{size} * sizes.size;
      const std::uint64_t at_hand = std::min<std::uint64_t>(number_at(mixed, count), places.size / 2u);
      for (std::uint32_t i = 0; i < at_hand; ++i)
        granules.push_back(static_cast<std::uint32_t>(number_at(mixed, {places.offset + i * 2, 2})));
    }
    return granules;
  }

  /// Appends the words of a span's live blocks, and counts them. \param live_word the bits of a word, of which
  /// those behind the last block are dropped.
  template <typename LiveWord>
  void set_live(Span& span, LiveWord live_word) {
    span.first_word = static_cast<std::uint32_t>(snapshot_.live_words.size());
    for (std::uint32_t word = 0; word < word_count_of(span.block_count); ++word) {
      const std::uint64_t bits = live_word(word) & valid_bits(span.block_count, word);
      snapshot_.live_words.push_back(bits);
      span.live += static_cast<std::uint32_t>(std::popcount(bits));
    }
    span.live_bytes = span.live * span.block_bytes;
  }

  Reading& reading_;
  Snapshot& snapshot_;
  const Fields fields_;
  const Layout& layout_;
};

void sort_by_address(Reading& reading) {
  std::vector<Span>& spans = reading.snapshot.spans;
  if (std::ranges::is_sorted(spans, {}, &Span::start)) return;
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return spans[i].start; });
  std::vector<Span> sorted_spans;
  std::vector<Address> sorted_records;
  for (const std::uint32_t i : order) {
    sorted_spans.push_back(spans[i]);
    sorted_records.push_back(reading.span_records[i]);
  }
  spans = std::move(sorted_spans);
  reading.span_records = std::move(sorted_records);
}

/// A span that was left out has no blocks.
void forget_blocks(Span& span) {
  span.use = SpanUse::kOther;
  span.block_count = span.live = span.cached = 0;
  span.live_bytes = 0;
}

}  // namespace

void read_blocks(Reading& reading) {
  sort_by_address(reading);
  BlockReader reader(reading);
  for (std::uint32_t i = 0; i < reading.snapshot.spans.size(); ++i) {
    if (reader.read(i)) continue;
    reading.note_bad_span();
    forget_blocks(reading.snapshot.spans[i]);
  }
}

}  // namespace tarn::observer
