#include "observe/leaks/reachability.h"

#include <algorithm>
#include <cstring>

#include "base/leak_rules.h"
#include "base/wipe.h"
#include "general/guarded/guarded_blocks.h"
#include "observe/descriptor.h"
#include "observe/profile/samples.h"
#include "page/memory/memory_limit.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// Memory without a file that can only be read was written before.
bool may_hold_pointers(const os::Mapping& mapping) {
  return mapping.is_readable && (mapping.is_writable || mapping.path.empty()) &&
         !is_mapped_device(mapping.path);
}

}  // namespace

// The program's secrets may have come into the buffer.
Reachability::~Reachability() {
  if (buffer_.begin() != nullptr) wipe(buffer_.begin(), kBufferBytes);
}

bool Reachability::begin() {
  if (!waiting_.reserve(blocks_.size()) || !buffer_.reserve(kBufferBytes)) return false;
  os::leave_out_of_dumps(buffer_.begin(), kBufferBytes);
  return true;
}

void Reachability::consider(std::uint64_t word) {
  for (std::uint32_t block = blocks_.find(word & kBitsOfAddress); block != LeakBlocks::kNone;
       block = blocks_[block].around)
    reach(block);
}

void Reachability::reach(std::uint32_t block) {
  if (blocks_[block].reached != Reached::kNo) return;
  blocks_[block].reached = as_;
  waiting_.push(block);
}

void Reachability::scan(os::AddressRange range) {
  blocks_.for_each_gap(range.start, range.end, LeakBlocks::kNone,
                       [this](std::uint64_t start, std::uint64_t end) {
                         want_written({start, end});
                       });
  read_wanted();
}

void Reachability::finish() {
  while (waiting_.size() != 0 || wanted_count_ != 0) {
    if (waiting_.size() == 0) {
      read_wanted();
      continue;
    }
    const std::uint32_t block = waiting_[waiting_.size() - 1];
    waiting_.set_size(waiting_.size() - 1);
    scan_block(block);
  }
}

void Reachability::scan_block(std::uint32_t block) {
  const LeakBlock& all = blocks_[block];
  if (!all.has_inner) return want_written({all.start, all.end()});
  blocks_.for_each_gap(all.start, all.end(), block, [this](std::uint64_t start, std::uint64_t end) {
    want_written({start, end});
  });
}

void Reachability::want_written(os::AddressRange range) {
  if (range.end - range.start < kWorthAsking) return want(range);
  while (range.start < range.end) {
    const os::AddressRange run = reader_.next_written(reader_.context, range);
    if (run.start < run.end) want(run);
    range.start = run.end;
  }
}

void Reachability::want(os::AddressRange range) {
  range.start = round_up(range.start, kWordBytes);
  range.end &= ~(kWordBytes - 1);
  while (range.start < range.end) {
    if (wanted_count_ == kMostRanges || wanted_bytes_ == kBufferBytes) read_wanted();
    const std::size_t left = range.end - range.start, room = kBufferBytes - wanted_bytes_;
    const std::size_t bytes = left < room ? left : room;
    wanted_[wanted_count_++] = {range.start, range.start + bytes};
    wanted_bytes_ += bytes;
    range.start += bytes;
  }
}

void Reachability::read_wanted() {
  while (wanted_count_ != 0) {
    const std::size_t read = reader_.read(reader_.context, wanted_, wanted_count_, buffer_.begin());
    consider_all(buffer_.begin(), read);
    if (read == wanted_bytes_) break;
    skip_unreadable(read);
  }
  wanted_count_ = 0;
  wanted_bytes_ = 0;
}

// Leaves what lies behind the page of the first byte that was not read.
void Reachability::skip_unreadable(std::size_t read) {
  unsigned at = 0;
  for (; read >= wanted_[at].end - wanted_[at].start; ++at) read -= wanted_[at].end - wanted_[at].start;
  const std::uintptr_t fault = wanted_[at].start + read, next = round_up(fault + 1, kSmallestOsPage);
  unread_bytes_ += (next < wanted_[at].end ? next : wanted_[at].end) - fault;
  if (next < wanted_[at].end)
    wanted_[at].start = next;
  else
    ++at;
  wanted_bytes_ = 0;
  for (unsigned i = at; i < wanted_count_; ++i) {
    wanted_[i - at] = wanted_[i];
    wanted_bytes_ += wanted_[i].end - wanted_[i].start;
  }
  wanted_count_ -= at;
}

void Reachability::consider_all(const char* words, std::size_t bytes) {
  for (std::size_t at = 0; at + kWordBytes <= bytes; at += kWordBytes) {
    std::uint64_t word;
    std::memcpy(&word, words + at, sizeof word);
    consider(word);
  }
}

bool NotRoots::begin() { return ranges_.reserve(kMost); }

// All but what the program may have nowhere else: the context of its callback.
void NotRoots::add_data(os::AddressRange range) {
  const std::uintptr_t kept = address_of(&memory_limit), end = kept + sizeof memory_limit;
  if (range.start <= kept && end <= range.end) {
    add({range.start, kept});
    range.start = end;
  }
  add(range);
}

void NotRoots::add_library(const LoadedModules& modules) {
  // Whatever the library itself holds would reach every block. A library that is part of the program has no
  // file of its own, but a list of its data.
  const LoadedModule* const file = modules.find(address_of(&samples));
  if (file != nullptr && is_of_library(*file)) {
    add_data({file->start, file->end});
  } else {
    const ObserveDescriptor& descriptor = tarn_observe_descriptor;
    for (const ObservedRoot* root = descriptor.roots; root != descriptor.roots + descriptor.root_count;
         ++root)
      add_data({address_of(root->address), address_of(root->address) + root->bytes});
  }
  for (os::AddressRange next{0, 0}; (next = os::next_reserve(next.end)).start != SIZE_MAX;)
    if (!guarded_blocks.owns(reinterpret_cast<const void*>(next.start + os::kGuardBytes))) add(next);
  for (std::uint32_t i = 0; i < metadata.range_count(); ++i)
    add({address_of(metadata.range(i).start), address_of(metadata.range(i).end)});
  samples.visit_memory([this](std::uintptr_t start, std::uintptr_t end) { add({start, end}); });
}

void NotRoots::sort() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const os::AddressRange& a, const os::AddressRange& b) { return a.start < b.start; });
}

bool scan_roots(Reachability& reach, const NotRoots& not_roots, std::uintptr_t stack_pointer) {
  os::visit_words_of_waiting_threads(
      [](std::uintptr_t word, void* to) { static_cast<Reachability*>(to)->consider(word); }, &reach);
  return os::for_each_mapping([&](const os::Mapping& mapping) {
    if (!may_hold_pointers(mapping)) return;
    os::AddressRange range = mapping.range;
    if (mapping.path == "[stack]" && range.start < stack_pointer && stack_pointer < range.end)
      range.start = stack_pointer;
    not_roots.for_each_rest(range, [&](os::AddressRange rest) { reach.scan(rest); });
  });
}

MemoryReader reader_of(os::OwnMemory& memory) {
  return {[](void* context, const os::AddressRange* ranges, unsigned count, char* to) {
            return static_cast<os::OwnMemory*>(context)->read(ranges, count, to);
          },
          [](void* context, os::AddressRange within) {
            return static_cast<os::OwnMemory*>(context)->next_written(within);
          },
          &memory};
}

}  // namespace tarn::internal
