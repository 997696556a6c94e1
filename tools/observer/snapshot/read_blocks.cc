// The blocks of spans: which of them are live.
#include <algorithm>
#include <bit>
#include <numeric>

#include "observer/records/large_memory.h"
#include "observer/snapshot/reading.h"

namespace tarn::observer {
namespace {

constexpr std::uint64_t kCacheLineBytes = 64;
constexpr std::uint32_t kBitsPerWord = 64;
constexpr unsigned kGenerationShift = 32;  // in the word of a slot
constexpr Address kPoolMarks = 7;          // the pool's record lies at a multiple of 8

/// Where the fields of a span lie, and what its kinds are.
struct Fields {
  const Layout& layout;
  std::uint32_t record = layout.size_of("span");
  Field start = layout.field("span.start");
  Field free_bits = layout.field("span.free_bits");
  Field pool_data = layout.field("span.pool_data");
  Field remote_bits = layout.field("span.remote_bits");
  Field pool = layout.field("span.pool");
  Field stride = layout.field("span.stride");
  Field owner = layout.field("span.owner");
  Field block_count = layout.field("span.block_count");
  Field size_class = layout.field("span.size_class");
  Field kind = layout.field("span.kind");
  std::uint32_t slab = layout.value("kind.slab");
  std::uint32_t large = layout.value("kind.large");
  std::uint32_t cached = layout.value("kind.cached");
  std::uint32_t of_pool = layout.value("kind.pool");
  std::uint32_t handle = layout.value("pool_record.handle");
  std::uint32_t heap = layout.value("pool_record.heap");
};

/// The words of bits at an address.
class Words {
 public:
  Words(Image& image, Address start, std::uint32_t count)
      : bytes_(image.view(start, std::uint64_t{count} * sizeof(std::uint64_t))) {}
  bool is_there() const { return !bytes_.empty(); }
  std::uint64_t operator[](std::uint32_t word) const { return entry_of<std::uint64_t>(bytes_, word); }
  bool test(std::uint32_t bit) const { return ((*this)[bit / kBitsPerWord] >> bit % kBitsPerWord & 1) != 0; }

 private:
  Bytes bytes_;
};

/// The first one at or behind a place, of words that a function gives; `end` when there is none before it.
template <typename WordAt>
std::uint32_t first_one(std::uint32_t from, std::uint32_t end, WordAt word_at) {
  while (from < end) {
    const std::uint64_t bits = word_at(from / kBitsPerWord) >> from % kBitsPerWord;
    if (bits != 0) return std::min(end, from + static_cast<std::uint32_t>(std::countr_zero(bits)));
    from = (from / kBitsPerWord + 1) * kBitsPerWord;
  }
  return end;
}

/// The bits of a last word that have blocks.
constexpr std::uint64_t valid_bits(std::uint32_t block_count, std::uint32_t word) {
  const std::uint32_t left = block_count - word * kBitsPerWord;
  return left >= kBitsPerWord ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

/// The lowest bits of the generations of slots, for a word of blocks.
std::uint64_t odd_generations(Bytes slots, std::uint32_t word) {
  const std::size_t first = std::size_t{word} * kBitsPerWord;
  const std::size_t count = std::min<std::size_t>(slots.size() / sizeof(std::uint64_t) - first, kBitsPerWord);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    bits |= (entry_of<std::uint64_t>(slots, first + i) >> kGenerationShift & 1) << i;
  return bits;
}

class BlockReader {
 public:
  explicit BlockReader(Reading& reading) : reading_(reading) {}

  /// \returns whether what was read can be true.
  bool read(std::uint32_t index) {
    Span& span = snapshot_.spans[index];
    const Address address = reading_.span_records[index].address;
    const Bytes record = reading_.image.view(address, fields_.record);
    if (record.empty()) return false;
    span.first_block = number_at(record, fields_.start);
    if (span.first_block < span.start || span.first_block >= span.end()) return false;
    if (reading_.span_records[index].lies_in_buffer) return read_of_pool(span, address, record);
    const std::uint64_t kind = number_at(record, fields_.kind);
    if (kind == fields_.slab) return read_slab(span, address, record);
    if (kind == fields_.large) return read_large(span, SpanUse::kLarge);
    if (kind == fields_.cached) return read_cached(span, address);
    return kind == fields_.of_pool && read_of_pool(span, address, record);
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

  bool read_cached(Span& span, Address address) {
    span.owner = index_in(reading_.cached_span_owner, address);
    if (span.owner != kNone) snapshot_.owners[span.owner].cached_span_bytes += span.bytes;
    return read_large(span, SpanUse::kCachedLarge);
  }

  bool read_slab(Span& span, Address address, Bytes record) {
    span.owner = index_in(reading_.owner_at, number_at(record, fields_.owner));
    span.use = reading_.spare_slabs.contains(address) ? SpanUse::kSpareSlab : SpanUse::kSlab;
    const Owner* const owner = span.owner != kNone ? &snapshot_.owners[span.owner] : nullptr;
    if (span.use == SpanUse::kSpareSlab && number_at(record, fields_.block_count) == 0) return true;  // fresh
    if (!read_class(span, record)) return false;
    if (owner != nullptr) span.pool = owner->pool;
    if (owner != nullptr && owner->has_slots) {  // the library's own
      span.use = SpanUse::kHandleSlots;
      span.pool = kNone;
      return true;
    }
    if (span.size_class == 0) {  // of a pool that no thread has a record of
      if (span.pool == kNone) return false;
      span.block_bytes = snapshot_.pools[span.pool].block_bytes;
    }
    if (!read_count(span, record)) return false;
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

  /// \returns false for a class that there is not. Class 0: none.
  bool read_class(Span& span, Bytes record) {
    const std::uint64_t size_class = number_at(record, fields_.size_class);
    if (size_class >= snapshot_.classes.size()) return false;
    span.size_class = static_cast<std::uint16_t>(size_class);
    span.block_bytes = snapshot_.classes[size_class].block_bytes;
    return size_class == 0 || span.block_bytes != 0;
  }

  bool read_count(Span& span, Bytes record) {
    span.block_count = static_cast<std::uint32_t>(number_at(record, fields_.block_count));
    span.stride = static_cast<std::uint32_t>(number_at(record, fields_.stride));
    return fits(span);
  }

  /// Whether the blocks lie in the span and apart. The stride of a single one may be cut off.
  static bool fits(const Span& span) {
    const std::uint64_t room = span.end() - span.first_block;
    if (span.block_count == 0 || span.block_bytes == 0 || span.block_bytes > room) return false;
    return span.block_count == 1 ||
           (span.stride >= span.block_bytes && span.stride <= room / span.block_count && span.stride != 0);
  }

  bool read_of_pool(Span& span, Address address, Bytes record) {
    const Address pool = number_at(record, fields_.pool) & ~kPoolMarks;
    span.pool = index_in(reading_.pool_at, pool);
    if (reading_.spare_pages.contains(address)) {
      span.use = SpanUse::kSparePage;
      return true;
    }
    if (span.pool == kNone) return pool == 0;  // a table of the library's own
    const std::uint64_t kind = reading_.pool_details[span.pool].record_kind;
    if (kind == fields_.handle) return read_handle_group(span, record);
    if (kind == fields_.heap) return read_heap_pages(span, record);
    return true;
  }

  bool read_handle_group(Span& span, Bytes record) {
    span.use = SpanUse::kHandleGroup;
    span.block_bytes = number_at(record, fields_.stride);
    if (!read_count(span, record)) return false;
    const Bytes slots = reading_.image.view(number_at(record, fields_.pool_data),
                                            std::uint64_t{span.block_count} * sizeof(std::uint64_t));
    if (slots.empty()) return false;
    reading_.bounds.spend_steps(span.block_count);
    set_live(span, [&](std::uint32_t word) { return odd_generations(slots, word); });
    return true;
  }

  bool read_heap_pages(Span& span, Bytes record) {
    span.use = SpanUse::kHeapBlock;
    if (!read_class(span, record)) return false;
    const auto block_count = static_cast<std::uint32_t>(number_at(record, fields_.block_count));
    if (block_count != 1) return read_mixed_page(span, record, block_count);
    if (span.size_class == 0) span.block_bytes = span.end() - span.first_block;
    if (span.size_class != 0) span.block_bytes = number_at(record, fields_.stride);  // as large as they are
    if (!read_count(span, record)) return false;
    const Words free(reading_.image, number_at(record, fields_.free_bits), word_count_of(span.block_count));
    if (!free.is_there()) return false;
    set_live(span, [&](std::uint32_t word) { return ~free[word]; });
    return true;
  }

  /// A bit for each granule that is free, and one for each that ends a block.
  bool read_mixed_page(Span& span, Bytes record, std::uint32_t granules) {
    span.use = SpanUse::kMixedPage;
    const auto granule_bytes = static_cast<std::uint32_t>(number_at(record, fields_.stride));
    constexpr std::uint32_t kMostGranules = 65536, kLeastGranuleBytes = 16;
    if (span.size_class != 0 || granules > kMostGranules || granule_bytes < kLeastGranuleBytes) return false;
    if (std::uint64_t{granules} * granule_bytes > span.bytes) return false;
    const std::uint32_t words = word_count_of(granules);
    const Words free(reading_.image, number_at(record, fields_.free_bits), words);
    const Words ends(reading_.image, number_at(record, fields_.remote_bits), words);
    if (!free.is_there() || !ends.is_there()) return false;
    reading_.bounds.spend_steps(2 * words);
    span.first_mixed = static_cast<std::uint32_t>(snapshot_.mixed_blocks.size());
    const auto live = [&](std::uint32_t word) { return ~free[word]; };
    const auto stops = [&](std::uint32_t word) { return ends[word] | free[word]; };
    for (std::uint32_t end = 0;;) {
      const std::uint32_t first = first_one(end, granules, live);
      if (first == granules) return true;
      end = first_one(first, granules, stops);
      if (end < granules && !free.test(end)) ++end;
      reading_.bounds.spend_steps(1);
      add_mixed_block(span, std::uint64_t{first} * granule_bytes, std::uint64_t{end} * granule_bytes);
    }
  }

  /// \param from, to bytes behind the page's start.
  void add_mixed_block(Span& span, std::uint64_t from, std::uint64_t to) {
    ++span.block_count;
    const auto index = static_cast<std::uint32_t>(&span - snapshot_.spans.data());
    reading_.add(snapshot_.mixed_blocks, {span.start + from, to - from, index});
    ++span.live;
    span.live_bytes += to - from;
  }

  /// Appends the words of a span's live blocks, and counts them. \param live_word the bits of a word, of
  /// which those behind the last block are dropped.
  template <typename LiveWord>
  void set_live(Span& span, LiveWord live_word) {
    const std::uint32_t words = word_count_of(span.block_count);
    reading_.bounds.spend_bytes(words * sizeof(std::uint64_t));
    const std::size_t first = snapshot_.live_words.size();
    make_room(snapshot_.live_words, words);
    span.first_word = static_cast<std::uint32_t>(first);
    snapshot_.live_words.resize(first + words);
    std::uint64_t* const into = snapshot_.live_words.data() + first;
    for (std::uint32_t word = 0; word < words; ++word) {
      into[word] = live_word(word) & valid_bits(span.block_count, word);
      span.live += static_cast<std::uint32_t>(std::popcount(into[word]));
    }
    span.live_bytes = span.live * span.block_bytes;
  }

  Reading& reading_;
  Snapshot& snapshot_ = reading_.snapshot;
  const Fields fields_{reading_.layout};
};

/// Puts spans in the order of their addresses. Of two with one start the larger comes first.
void sort_by_address(Reading& reading) {
  std::vector<Span>& spans = reading.snapshot.spans;
  const auto is_before = [](const Span& one, const Span& other) {
    return one.start != other.start ? one.start < other.start : one.bytes > other.bytes;
  };
  if (std::ranges::is_sorted(spans, is_before)) return;
  reading.bounds.spend_bytes(spans.size() * (sizeof(Span) + sizeof(SpanRecord) + sizeof(std::uint32_t)));
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](std::uint32_t i, std::uint32_t j) { return is_before(spans[i], spans[j]); });
  std::vector<Span> sorted_spans;
  std::vector<SpanRecord> sorted_records;
  for (const std::uint32_t i : order) {
    sorted_spans.push_back(spans[i]);
    sorted_records.push_back(reading.span_records[i]);
  }
  spans = std::move(sorted_spans);
  reading.span_records = std::move(sorted_records);
}

/// Moves spans that lie in others to the end. \returns how many are before them. What overlaps is left out,
/// unless a heap's buffer lies whole in a block.
std::size_t set_inner_spans_aside(Reading& reading) {
  std::vector<Span>& spans = reading.snapshot.spans;
  std::vector<SpanRecord>& records = reading.span_records;
  std::vector<Span> inner;
  std::vector<SpanRecord> inner_records;
  std::size_t kept = 0;
  Address end = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].start >= end) {
      end = spans[i].end();
      if (kept != i) {
        records[kept] = records[i];
        spans[kept] = spans[i];
      }
      ++kept;
    } else if (records[i].lies_in_buffer && spans[i].end() <= end) {
      reading.add(inner, spans[i]);
      reading.add(inner_records, records[i]);
    } else {
      reading.note_bad_span();
    }
  }
  std::ranges::copy(inner, spans.begin() + static_cast<std::ptrdiff_t>(kept));
  std::ranges::copy(inner_records, records.begin() + static_cast<std::ptrdiff_t>(kept));
  spans.resize(kept + inner.size());
  records.resize(kept + inner.size());
  return kept;
}

/// A span that was left out has no blocks.
void forget_blocks(Span& span) {
  span.use = SpanUse::kOther;
  span.pool = kNone;
  span.block_count = span.live = span.cached = 0;
  span.live_bytes = 0;
}

void read_blocks_of(Reading& reading, std::size_t first, std::size_t end) {
  BlockReader reader(reading);
  for (std::size_t i = first; i < end; ++i) {
    if (reader.read(static_cast<std::uint32_t>(i))) continue;
    reading.note_bad_span();
    forget_blocks(reading.snapshot.spans[i]);
  }
}

}  // namespace

void read_blocks(Reading& reading) {
  Snapshot& snapshot = reading.snapshot;
  sort_by_address(reading);
  const std::size_t outer = set_inner_spans_aside(reading);
  read_blocks_of(reading, 0, outer);
  const std::size_t mixed = snapshot.mixed_blocks.size();
  read_blocks_of(reading, outer, snapshot.spans.size());
  reading.spans_in_blocks.assign(snapshot.spans.begin() + static_cast<std::ptrdiff_t>(outer),
                                 snapshot.spans.end());
  snapshot.spans.resize(outer);
  snapshot.mixed_blocks.resize(mixed);
}

}  // namespace tarn::observer
