#include "observe/leaks/leak_report.h"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "base/leak_rules.h"
#include "base/printable.h"
#include "base/text.h"
#include "observe/profile/code_modules.h"
#include "os/fatal.h"
#include "os/process/process.h"

// Weak: a static program has none, and needs none because of the library.
#pragma weak dladdr

namespace tarn::internal {
namespace {

constexpr std::size_t kLongestName = 768;
// A path, a function's name as the linker knows it, and words.
using Line = FixedText<kLongestName + 256>;

void add_count(Text& text, std::uint64_t count, std::string_view unit) {
  text.add_grouped(count).add(' ').add(unit);
  if (count != 1) text.add('s');
}

void add_to(LeakGroup& group, const LeakBlock& block) {
  ++group.blocks;
  group.bytes += block.requested;
  group.least_bytes = std::min(group.least_bytes, block.requested);
  group.most_bytes = std::max(group.most_bytes, block.requested);
}

void complain(std::string_view name, std::size_t line, std::string_view what) {
  FixedText<1024> text;
  text.add("tarn: ").add(name);
  if (line != 0) text.add(':').add_decimal(line);
  text.add(": ").add(what).add('\n');
  os::write_line(text);
}

std::string_view fault_of(LeakLine kind) {
  switch (kind) {
    case LeakLine::kNone:
      return "no suppression: write leak:PATTERN, or # before a comment";
    case LeakLine::kOfAll:
      return "the pattern would suppress every leak";
    case LeakLine::kTooLong:
      return "the pattern is too long";
    default:
      return {};
  }
}

}  // namespace

bool LeakGroups::make(LeakBlocks& blocks, Reached reached) {
  chosen_.set_size(0);
  groups_.set_size(0);
  sum_ = {};
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].is_sampled && blocks[i].reached == reached && !chosen_.push(i)) return false;
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return blocks[a].stack != blocks[b].stack ? blocks[a].stack < blocks[b].stack
                                              : blocks[a].pool < blocks[b].pool;
  };
  // Sorted, a group's blocks stand together: no map, whose memory would come from the allocator that is
  // searched.
  std::sort(chosen_.begin(), chosen_.end(), is_before);
  for (const std::uint32_t i : chosen_) {
    const LeakBlock& block = blocks[i];
    const LeakGroup* const last = groups_.size() == 0 ? nullptr : groups_.end() - 1;
    const bool is_new = last == nullptr || last->stack != block.stack || last->pool != block.pool;
    if (is_new && !groups_.push({0, 0, UINT64_MAX, 0, block.stack, block.pool})) return false;
    add_to(groups_[groups_.size() - 1], block);
    ++sum_.blocks;
    sum_.bytes += block.requested;
  }
  std::sort(groups_.begin(), groups_.end(), [](const LeakGroup& a, const LeakGroup& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.stack < b.stack;
  });
  return true;
}

const char* exported_function(std::uint64_t address) {
  Dl_info info{};
  if (&dladdr == nullptr || dladdr(reinterpret_cast<void*>(address), &info) == 0) return nullptr;
  return info.dli_sname;
}

void LeakSuppressions::read(const char* path) {
  if (path[0] == '\0') return;
  if (!text_.reserve(kLargestLeakFile + 1)) return complain(path, 0, "no memory to read it");
  const long length = os::read_file(path, text_.begin(), kLargestLeakFile + 1);
  if (length < 0) return complain(path, 0, "cannot be read; no leak is suppressed");
  if (static_cast<std::size_t>(length) > kLargestLeakFile)
    return complain(path, 0, "is larger than 1 MiB; no leak is suppressed");
  parse({text_.begin(), static_cast<std::size_t>(length)}, path);
}

void LeakSuppressions::parse(std::string_view text, std::string_view name) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(front_of(text, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    Known known{};
    const LeakLine kind = read_leak_line(line, &known.pattern);
    if (const std::string_view fault = fault_of(kind); !fault.empty())
      complain(name, number, fault);
    else if (kind == LeakLine::kPattern && (known_.size() == kMostLeakPatterns || !known_.push(known)))
      return complain(name, number, "too many suppressions");
  }
}

LeakSuppressions::Known* LeakSuppressions::find_in(const char* module, const char* function) {
  for (Known& known : known_)
    if ((module != nullptr && is_leak_match(known.pattern, module)) ||
        (function != nullptr && is_leak_match(known.pattern, function)))
      return &known;
  return nullptr;
}

LeakSuppressions::Known* LeakSuppressions::find(std::uint32_t stack, const LoadedModules& modules) {
  Known* first = nullptr;
  const SampledStack* const sampled = samples.stack(stack);
  for (std::uint32_t i = 0; sampled != nullptr && i < sampled->count && known_.size() != 0; ++i) {
    const std::uint64_t call = sampled->addresses[i] - 1;
    const CodeModule* const gone = code_modules.find_gone(stack, call);
    const LoadedModule* const module = modules.find(call);
    Known* const found = gone != nullptr
                             ? find_in(gone->path, nullptr)
                             : find_in(module != nullptr ? module->path : nullptr, exported_function(call));
    // Of several patterns that fit, the one that stands first in the file of suppressions.
    if (found != nullptr && (first == nullptr || found < first)) first = found;
  }
  return first;
}

void LeakWriter::add_sum(Text& text, const LeakSum& sum) {
  add_count(text, sum.bytes, "byte");
  text.add(" in ");
  add_count(text, sum.blocks, "block");
}

void LeakWriter::add_group(Text& text, const LeakGroup& group) const {
  add_sum(text, {group.blocks, group.bytes});
  text.add(" of ").add_bytes(group.least_bytes);
  if (group.most_bytes != group.least_bytes) text.add(" to ").add_bytes(group.most_bytes);
  const LeakPool& pool = pools_[group.pool];
  if (pool.kind[0] != '\0') text.add(" from ").add(pool.kind);
  if (pool.name[0] != '\0') text.add(" \"").add(pool.name).add('"');
  text.add('\n');
}

void LeakWriter::add_frame(Text& text, const char* word, std::uint32_t stack, std::uint64_t address) const {
  text.add("    ").add(word).add(' ');
  if (const CodeModule* const gone = code_modules.find_gone(stack, address); gone != nullptr) {
    text.add(gone->path).add('+').add_hex(address - gone->base).add('\n');
    return;
  }
  const char* const function = exported_function(address);
  if (function != nullptr) {
    add_shown(text, function, kLongestName);
    text.add(" (");
  }
  if (!modules_.add_place(text, address)) text.add_hex(address);
  text.add(function != nullptr ? ")\n" : "\n");
}

unsigned LeakWriter::first_frame_of_program(const SampledStack& stack) const {
  unsigned first = 0;
  const auto is_librarys = [&](std::uint64_t address) {
    const LoadedModule* const module = modules_.find(address - 1);
    return module != nullptr && is_of_library(*module);
  };
  while (first < stack.count && is_librarys(stack.addresses[first])) ++first;
  return first < stack.count ? first : 0;
}

void LeakWriter::write_group(const LeakGroup& group) const {
  Line heading;
  add_group(heading, group);
  os::write_line(heading);
  const SampledStack* const stack = samples.stack(group.stack);
  const unsigned first = stack == nullptr ? 0 : first_frame_of_program(*stack);
  const unsigned count = stack == nullptr ? 0 : stack->count;
  // An address is where its call returns to, `- 1` a place within the call.
  for (unsigned i = first; i < count && i - first < kMostFrames; ++i) {
    Line line;
    if (stack->addresses[i] == os::StackMemo::kLeftOut)
      line.add("    … frames left out\n");
    else
      add_frame(line, i == first ? "at" : "by", group.stack, stack->addresses[i] - 1);
    os::write_line(line);
  }
  Line rest;
  if (count - first > kMostFrames)
    rest.add("    and ").add_decimal(count - first - kMostFrames).add(" more\n");
  os::write_line(rest.add('\n'));
}

void LeakWriter::write(const LeakGroups& groups) const {
  Line heading;
  heading.add("tarn: leaks at the end of process ").add_decimal(os::process_id());
  os::write_line(heading.add(" (`tarn run --leaks` names functions and lines):\n\n"));
  // Places that lost the most in full, the others as a sum: a page says more than ten thousand lines.
  LeakSum rest;
  std::size_t number = 0;
  for (const LeakGroup& group : groups) {
    if (number++ < kMostGroups) {
      write_group(group);
    } else {
      rest.blocks += group.blocks;
      rest.bytes += group.bytes;
    }
  }
  Line line;
  if (number > kMostGroups) {
    line.add("and ").add_decimal(number - kMostGroups).add(" more places: ");
    add_sum(line, rest);
    line.add("\n\n");
  }
  add_sum(line, groups.sum());
  os::write_line(line.add(" leaked\n"));
}

}  // namespace tarn::internal
