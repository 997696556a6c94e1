#include "observer/watch/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "observer/process/attached_process.h"
#include "observer/process/thread_words.h"
#include "observer/records/bytes.h"
#include "observer/records/locate.h"

namespace tarn::observer {
namespace {

// No program has more: a library that says so is forged.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostStacks = std::uint64_t{1} << 22;
constexpr std::uint64_t kMostAddresses = 1024;
constexpr std::uint64_t kMostPieces = 4096;
constexpr std::uint32_t kMostSampleParts = 64;
constexpr unsigned kMostTables = 32;
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostModules = 1024, kLongestPath = 4096, kLongestBuildId = 64;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;  // read at once

}  // namespace

SamplingWords::SamplingWords(const Source& source)
    : source_(source), layout_(layout_with(source, "samples.parts", "takes no samples")) {}

std::uint64_t SamplingWords::number(Address record, std::string_view field) const {
  return read_number(source_, record, layout_.field(field)).value_or(0);
}

std::uint64_t SamplingWords::interval() const {
  return number(layout_.root("observation"), "observation.interval");
}

std::uint64_t SamplingWords::switches() const { return number(layout_.root("watch"), "watch.generation"); }

void SamplingWords::require(Lives lives) const {
  if (!layout_.find_field(lives == Lives::kTemporary ? "stack.brief_samples" : "stack.second_byte_parts"))
    throw ObserveError(fmt::format("tarn {} in {} does not tell how long blocks lived: it is too old",
                                   layout_.version(), source_.program()));
  if (interval() == 1) throw ObserveError("every block is sampled: how long they live is not told then");
}

bool SamplingWords::can_be_read() const {
  return read_number(source_, layout_.root("watch"), layout_.field("watch.generation")).has_value();
}

bool SamplingWords::is_noticed() const {
  return number(layout_.root("observation"), "observation.rung_for") == switches();
}

Sampling SamplingWords::read() const {
  Sampling sampling = read_live();
  read_stacks(sampling);  // afterwards: so each live sample's stack is among them
  return sampling;
}

void SamplingWords::read_stacks(Sampling& sampling) const {
  Bounds bounds;
  read_stacks(sampling, bounds, nullptr);
  read_modules(sampling, bounds);
}

Sampling SamplingWords::read_live() const {
  Sampling sampling;
  sampling.interval = interval();
  sampling.lost = number(layout_.root("samples"), "samples.lost");
  Bounds bounds;
  read_live(sampling, bounds);
  return sampling;
}

void SamplingWords::read_stacks_of_live(Sampling& sampling) const {
  std::vector<std::uint64_t> wanted;
  wanted.reserve(sampling.live.size());
  for (const SampledBlock& sample : sampling.live) wanted.push_back(sample.stack);
  std::ranges::sort(wanted);
  const auto [end, behind] = std::ranges::unique(wanted);
  wanted.erase(end, behind);
  Bounds bounds;
  read_stacks(sampling, bounds, &wanted);
  read_modules(sampling, bounds);
}

void SamplingWords::read_live(Sampling& sampling, Bounds& bounds) const {
  const Field parts = layout_.field("samples.parts");
  const Field block = layout_.field("sample.block"), requested = layout_.field("sample.requested"),
              stack = layout_.field("sample.stack"), interval = layout_.field("sample.interval"),
              pool = layout_.field("sample.pool"),
              made_ns = layout_.find_field("sample.made_ns").value_or(Field{});
  const std::size_t bytes = layout_.size_of("sample");
  if (bytes == 0) return;
  const std::uint32_t count = std::min<std::uint32_t>(layout_.value("samples.part_count"), kMostSampleParts);
  std::vector<std::byte> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Address part = layout_.root("samples") + parts.offset + std::uint64_t{i} * parts.size;
    Address next = number(part, "sample_part.entries");
    std::uint64_t left = number(part, "sample_part.room");
    sampling.is_whole = sampling.is_whole && left <= kMostSamples;
    for (left = std::min(left, kMostSamples); left != 0;) {
      entries.resize(std::min<std::uint64_t>(left, kPartBytes / bytes + 1) * bytes);
      if (!source_.read_all(next, entries.data(), entries.size())) break;
      bounds.spend_steps(entries.size() / bytes);
      for (std::size_t at = 0; at < entries.size(); at += bytes) {
        const Bytes entry = Bytes(entries).subspan(at, bytes);
        if (number_at(entry, block) == 0) continue;
        bounds.spend_bytes(sizeof(SampledBlock));
        sampling.live.push_back({number_at(entry, block), number_at(entry, requested),
                                 number_at(entry, stack), number_at(entry, interval), number_at(entry, pool),
                                 number_at(entry, made_ns)});
      }
      left -= entries.size() / bytes;
      next += entries.size();
    }
  }
}

// A piece is stacks one behind the other, from one unit on, until the first without a count.
void SamplingWords::read_stacks(Sampling& sampling, Bounds& bounds,
                                const std::vector<std::uint64_t>* wanted) const {
  const Field pieces = layout_.field("samples.pieces");
  const Field count = layout_.field("stack.count"), pool = layout_.field("stack.pool"),
              samples = layout_.field("stack.samples"), blocks = layout_.field("stack.block_parts"),
              bytes = layout_.field("stack.byte_parts"), addresses = layout_.field("stack.addresses");
  const auto new_field = [&](const char* name) { return layout_.find_field(name).value_or(Field{}); };
  const Field temporary = new_field("stack.brief_samples"),
              temporary_blocks = new_field("stack.brief_block_parts"),
              temporary_bytes = new_field("stack.brief_byte_parts"),
              second_bytes = new_field("stack.second_byte_parts");
  const double parts_of_block = layout_.value("stack.parts_of_block"),
               parts_of_byte = layout_.value("stack.parts_of_byte");
  const std::uint64_t unit = layout_.value("samples.stack_unit");
  const std::uint64_t piece_bytes = layout_.value("samples.piece_bytes");
  const std::uint64_t piece_count =
      std::min(number(layout_.root("samples"), "samples.piece_count"), kMostPieces);
  if (unit == 0 || piece_bytes > kMostPieceBytes || addresses.offset == 0) return;
  std::vector<std::byte> piece(piece_bytes);
  for (std::uint64_t i = 0; i < piece_count; ++i) {
    const Address pointer = layout_.root("samples") + pieces.offset + i * pieces.size;
    const Address start = read_number(source_, pointer, {0, sizeof(Address)}).value_or(0);
    if (start == 0 || !source_.read_all(start, piece.data(), piece.size())) continue;
    for (std::uint64_t at = unit; at + addresses.offset <= piece_bytes;) {
      const Bytes record = Bytes(piece).subspan(at);
      const std::uint64_t frames = number_at(record, count);
      const std::uint64_t record_bytes =
          addresses.offset + std::max<std::uint64_t>(frames, 1) * sizeof(Address);
      if (number_at(record, samples) == 0 && frames == 0) break;
      if (frames > kMostAddresses || record_bytes > record.size() || sampling.stacks.size() == kMostStacks) {
        sampling.is_whole = false;
        break;
      }
      const std::uint64_t stack_number = (i * piece_bytes + at) / unit;
      at += (record_bytes + unit - 1) / unit * unit;
      if (wanted != nullptr && !std::ranges::binary_search(*wanted, stack_number)) continue;
      bounds.spend_bytes(sizeof(SampledStack) + frames * sizeof(Address));
      SampledStack stack{stack_number,
                         number_at(record, pool),
                         number_at(record, samples),
                         static_cast<double>(number_at(record, blocks)) / parts_of_block,
                         static_cast<double>(number_at(record, bytes)) / parts_of_byte,
                         number_at(record, temporary),
                         static_cast<double>(number_at(record, temporary_blocks)) / parts_of_block,
                         static_cast<double>(number_at(record, temporary_bytes)) / parts_of_byte,
                         static_cast<double>(number_at(record, second_bytes)) / parts_of_byte,
                         {}};
      stack.addresses.resize(frames);
      if (frames != 0)
        std::memcpy(stack.addresses.data(), record.data() + addresses.offset, frames * sizeof(Address));
      sampling.stacks.push_back(std::move(stack));
    }
  }
}

void SamplingWords::read_modules(Sampling& sampling, Bounds& bounds) const {
  if (!layout_.find_field("code_modules.count")) return;
  const std::uint64_t count =
      std::min(number(layout_.root("code_modules"), "code_modules.count"), kMostModules);
  Address module = number(layout_.root("code_modules"), "code_modules.modules");
  for (std::uint64_t i = 0; i < count; ++i, module += layout_.size_of("code_module")) {
    bounds.spend_bytes(sizeof(NotedModule) + kLongestPath + kLongestBuildId);
    NotedModule noted{number(module, "code_module.start"), number(module, "code_module.end"),
                      number(module, "code_module.first_stack"), std::string(kLongestPath, '\0'), ""};
    noted.path.resize(source_.read(number(module, "code_module.path"), noted.path.data(), kLongestPath));
    noted.path.resize(std::min(noted.path.find('\0'), noted.path.size()));
    noted.build_id.resize(std::min(number(module, "code_module.id_bytes"), kLongestBuildId));
    const Address id = module + layout_.field("code_module.build_id").offset;
    if (!source_.read_all(id, noted.build_id.data(), noted.build_id.size())) noted.build_id.clear();
    sampling.modules.push_back(std::move(noted));
  }
}

void SamplingWords::set(std::uint64_t interval) const {
  AttachedProcess& process = running_process(source_);
  process.write(layout_.root("observation") + layout_.field("observation.interval").offset, &interval,
                sizeof interval);
  count_switch(process, layout_);
}

LeaseWord SamplingWords::lease() const {
  return lease_word(running_process(source_), layout_, "lease.profile");
}

// A thread that ends takes its pointers out of its heap's record before they are gone, under a mutex that
// counts for nothing here: no thread runs.
void SamplingWords::ring() const {
  AttachedProcess& process = running_process(source_);
  const Address empty = layout_.root("empty_cache");
  while_stopped(process, [&] {
    CircleWatch circle;
    Address heap = number(layout_.root("registry"), "registry.first");
    for (; heap != 0 && !circle.has_closed(heap); heap = number(heap, "heap.next"))
      for (const char* const field : {"heap.shown", "heap.shown_derived"})
        if (const Address pointer = number(heap, field); pointer != 0)
          process.write(pointer, &empty, sizeof empty);
  });
}

std::vector<SamplingRange> sampling_ranges(const Source& source, const Layout& layout) {
  std::vector<SamplingRange> ranges;
  const std::optional<Field> parts = layout.find_field("samples.parts");
  if (!parts) return ranges;
  const auto number = [&](Address record, Field field) {
    return read_number(source, record, field).value_or(0);
  };
  const std::uint32_t count = std::min<std::uint32_t>(layout.value("samples.part_count"), kMostSampleParts);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Address part = layout.root("samples") + parts->offset + std::uint64_t{i} * parts->size;
    const std::uint64_t room = number(part, layout.field("sample_part.room"));
    const Address entries = number(part, layout.field("sample_part.entries"));
    if (entries != 0 && room <= kMostSamples) ranges.push_back({entries, room * layout.size_of("sample")});
  }
  const Field pieces = layout.field("samples.pieces");
  const std::uint64_t piece_count =
      std::min(number(layout.root("samples"), layout.field("samples.piece_count")), kMostPieces);
  for (std::uint64_t i = 0; i < piece_count; ++i) {
    const Address pointer = layout.root("samples") + pieces.offset + i * pieces.size;
    if (const Address start = number(pointer, {0, sizeof(Address)}); start != 0)
      ranges.push_back(
          {start, std::min<std::uint64_t>(layout.value("samples.piece_bytes"), kMostPieceBytes)});
  }
  Address table = number(layout.root("samples"), layout.field("samples.table"));
  for (unsigned i = 0; table != 0 && i < kMostTables; ++i) {
    const std::uint64_t room = number(table, layout.field("stack_table.room"));
    ranges.push_back({table, std::min(room, kMostStacks * 4) * sizeof(std::uint64_t)});
    table = number(table, layout.field("stack_table.smaller"));
  }
  return ranges;
}

double blocks_of(const SampledBlock& sample) {
  if (sample.interval <= 1) return 1;
  const double bytes = sample.requested == 0 ? 1 : static_cast<double>(sample.requested);
  return -1 / std::expm1(-bytes / static_cast<double>(sample.interval));
}

}  // namespace tarn::observer
