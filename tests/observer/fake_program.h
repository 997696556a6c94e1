// A program made by hand: ranges of memory, what is mapped where, and a snapshot of its heap. Words are
// written into it as a program would.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer::test {

class FakeProgram final : public Source {
 public:
  void map(Address start, std::uint64_t bytes, const std::string& path = {}, bool is_writable = true) {
    Mapping mapping;
    mapping.start = start, mapping.end = start + bytes;
    mapping.is_readable = true, mapping.is_writable = is_writable;
    mapping.path = path;
    mappings_.insert(std::ranges::upper_bound(mappings_, start, {}, &Mapping::start), mapping);
    memory_[start].resize(bytes);
  }
  /// Mapped, but its bytes cannot be read.
  void map_hole(Address start, std::uint64_t bytes) {
    map(start, bytes);
    memory_.erase(start);
  }
  void write(Address address, const void* from, std::size_t bytes) {
    auto& [start, content] = *std::prev(memory_.upper_bound(address));
    std::memcpy(content.data() + (address - start), from, bytes);
  }
  void write_word(Address address, Address word) { write(address, &word, sizeof word); }
  void write_text(Address address, const std::string& text) { write(address, text.c_str(), text.size() + 1); }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    const auto behind = memory_.upper_bound(address);
    if (behind == memory_.begin()) return 0;
    const auto& [start, content] = *std::prev(behind);
    if (address - start >= content.size()) return 0;
    const std::size_t got = std::min<std::size_t>(bytes, content.size() - (address - start));
    std::memcpy(into, content.data() + (address - start), got);
    return got;
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kCore; }
  int pid() const override { return 0; }
  std::string program() const override { return "fake"; }

 private:
  std::map<Address, std::vector<std::byte>> memory_;
  std::vector<Mapping> mappings_;
};

inline constexpr std::uint64_t kPageBytes = 65536;

/// Adds a slab of one page whose blocks are all live; \returns its span's index.
inline std::uint32_t add_slab(Snapshot& snapshot, Address start, std::uint32_t stride, std::uint32_t blocks) {
  Span span;
  span.start = span.first_block = start;
  span.bytes = kPageBytes;
  span.stride = stride, span.block_bytes = stride;
  span.block_count = span.live = blocks;
  span.live_bytes = std::uint64_t{stride} * blocks;
  span.first_word = static_cast<std::uint32_t>(snapshot.live_words.size());
  span.use = SpanUse::kSlab;
  for (std::uint32_t i = 0; i < blocks; i += 64)
    snapshot.live_words.push_back(blocks - i >= 64 ? ~std::uint64_t{0}
                                                   : (std::uint64_t{1} << (blocks - i)) - 1);
  snapshot.spans.push_back(span);
  return static_cast<std::uint32_t>(snapshot.spans.size() - 1);
}

/// The same with one block.
inline std::uint32_t add_large(Snapshot& snapshot, Address start, std::uint64_t bytes) {
  const std::uint32_t span = add_slab(snapshot, start, 0, 1);
  snapshot.spans[span].bytes = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  snapshot.spans[span].block_bytes = snapshot.spans[span].live_bytes = bytes;
  snapshot.spans[span].use = SpanUse::kLarge;
  return span;
}

inline void end_block(Snapshot& snapshot, std::uint32_t span, std::uint32_t block) {
  Span& of = snapshot.spans[span];
  snapshot.live_words[of.first_word + block / 64] &= ~(std::uint64_t{1} << block % 64);
  --of.live;
  of.live_bytes -= of.block_bytes;
}

inline std::uint32_t add_pool(Snapshot& snapshot, const std::string& name, bool is_sensitive = false) {
  Pool pool;
  pool.name = name;
  pool.is_sensitive = is_sensitive;
  snapshot.pools.push_back(pool);
  return static_cast<std::uint32_t>(snapshot.pools.size() - 1);
}

}  // namespace tarn::observer::test
