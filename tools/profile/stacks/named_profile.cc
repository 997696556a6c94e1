#include "profile/stacks/named_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/names/function_name.h"
#include "profile/stacks/element_type.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kDeepestStack = 1024;

bool is_allocators(const Frame& frame) {
  return is_of_namespace(frame.function, "tarn") || is_allocation_call(frame.function) ||
         (frame.is_inlined && frame.file.find("include/tarn/") != std::string::npos);
}

/// libtarn.so, libtarn_core.so.0.3: its inner functions have no names once it is stripped.
bool is_in_own_library(const Location& location, const HeapProfile& profile) {
  if (location.module == Location::kNoModule) return false;
  const std::string name = module_name(profile.modules[location.module].path);
  return name.starts_with("libtarn") && name.find(".so") != std::string::npos;
}

bool is_allocators(const Location& location, const HeapProfile& profile) {
  return is_allocators(location.frames.back()) || is_in_own_library(location, profile);
}

/// Estimates of a forged profile may be no numbers, or negative ones.
double as_amount(double number, double most = 9e15) {
  return std::isfinite(number) && number > 0 ? std::min(number, most) : 0;
}

/// Of samples that stand for the same.
Amount amount_of_equal(double blocks, double bytes, std::uint64_t samples) {
  const double all = as_amount(bytes);
  return {as_amount(blocks), all, samples == 0 ? 0 : all * all / static_cast<double>(samples)};
}

}  // namespace

/// Which calls are the allocator's: each location is looked at once, however many stacks have it.
class AllocatorFrames {
 public:
  explicit AllocatorFrames(const HeapProfile& profile) : profile_(profile) {}

  /// So many of the innermost calls are the allocator's; none where all are.
  std::size_t count_in(const Calls& calls) {
    std::size_t first = 0;
    while (first < calls.size() && of(*calls.locations[first]).is_all) ++first;
    return first == calls.size() ? 0 : first;
  }
  void drop(std::size_t first, Calls& calls) {
    if (calls.size() == 0 || of(*calls.locations[first]).is_all) return;
    calls.locations.erase(calls.locations.begin(),
                          calls.locations.begin() + static_cast<std::ptrdiff_t>(first));
    calls.skipped = of(*calls.locations.front()).inlined;
  }

 private:
  struct Part {
    bool is_all;
    std::size_t inlined;  // so many frames, where it is not all
  };

  const Part& of(const Location& location) {
    const auto [entry, is_new] = parts_.try_emplace(&location);
    if (is_new) entry->second = {is_allocators(location, profile_), inlined_in(location.frames)};
    return entry->second;
  }
  static std::size_t inlined_in(const std::vector<Frame>& frames) {
    std::size_t count = 0;
    while (count + 1 < frames.size() && is_allocators(frames[count])) ++count;
    return count;
  }

  const HeapProfile& profile_;
  std::unordered_map<const Location*, Part> parts_;
};

Calls without_allocator(Calls calls, const HeapProfile& profile) {
  AllocatorFrames allocator(profile);
  allocator.drop(allocator.count_in(calls), calls);
  return calls;
}

std::vector<Frame> NamedStack::frames() const {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < calls.size(); ++i)
    frames.insert(frames.end(), calls[i].frames().begin(), calls[i].frames().end());
  return frames;
}

namespace {

/// What site() looks for, of frames that come one after the other, innermost first.
class SiteSearch {
 public:
  /// \returns whether the frame is the site.
  bool is_site(const Frame& frame) {
    if (frame.role == FrameRole::kWrapper && fallback_ == nullptr) fallback_ = &frame;
    return frame.role == FrameRole::kProgram;
  }
  const Frame* fallback() const { return fallback_; }

 private:
  const Frame* fallback_ = nullptr;
};

}  // namespace

const Frame* NamedStack::site() const {
  SiteSearch search;
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const Frame& frame : calls[i].frames())
      if (search.is_site(frame)) return &frame;
  if (search.fallback() != nullptr || calls.size() == 0) return search.fallback();
  return &calls[0].frames().front();
}

std::vector<const Frame*> NamedStack::skipped_wrappers() const {
  std::vector<const Frame*> skipped;
  const Frame* const end = site();
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const Frame& frame : calls[i].frames()) {
      if (&frame == end) return skipped;
      if (frame.role == FrameRole::kWrapper) skipped.push_back(&frame);
    }
  return skipped;
}

std::size_t site_of(const std::vector<Frame>& frames) {
  SiteSearch search;
  for (const Frame& frame : frames)
    if (search.is_site(frame)) return static_cast<std::size_t>(&frame - frames.data());
  return search.fallback() == nullptr ? 0 : static_cast<std::size_t>(search.fallback() - frames.data());
}

std::string place_in_words(const Frame& frame) {
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  return frame.line == 0 ? file : fmt::format("{}:{}", file, frame.line);
}

std::string frame_in_words(const Frame& frame) {
  return frame.file.empty() ? frame.function : fmt::format("{} ({})", frame.function, place_in_words(frame));
}

NamedProfile::NamedProfile(HeapProfile profile, const SymbolPlaces& places, const Progress& progress,
                           const SkippedNames& skipped)
    : raw_(std::move(profile)),
      symbols_(raw_, places, progress),
      program_(observer::printable(raw_.program)) {
  symbols_.set_roles([&](const Frame& frame) { return role_of(frame, skipped); });
  AllocatorFrames allocator(raw_);
  ElementTypes types;
  stacks_.reserve(raw_.stacks.size() + 1);
  for (ProfileStack& stack : raw_.stacks) {
    add_stack(stack, allocator, types);
    // A million stacks need their memory once; from {} a vector would keep it.
    stack.addresses = std::vector<std::uint64_t>();
  }
  add_older();
  add_remarks();
}

const std::string* NamedProfile::kept_type(const std::string& type) {
  return type.empty() ? nullptr : &*types_.insert(type).first;
}

void NamedProfile::add_stack(const ProfileStack& stack, AllocatorFrames& allocator, ElementTypes& types) {
  NamedStack named;
  const std::size_t count = std::min(stack.addresses.size(), kDeepestStack);
  named.calls.locations.reserve(count);
  for (std::size_t i = 0; i < count; ++i) named.calls.locations.push_back(&symbols_.at(stack.addresses[i]));
  const std::size_t allocators = allocator.count_in(named.calls);
  named.type = kept_type(types.of(named.calls.locations, allocators));
  allocator.drop(allocators, named.calls);
  named.pool = observer::printable(stack.pool);
  named.allocated = amount_of_equal(stack.allocated_blocks, stack.allocated_bytes, stack.samples);
  named.live = {as_amount(stack.live_blocks), as_amount(stack.live_bytes),
                as_amount(stack.live_squares, 1e31)};
  named.second_bytes = as_amount(stack.second_bytes);
  named.new_live_bytes = as_amount(stack.new_live_bytes);
  named.temporary = amount_of_equal(stack.temporary_blocks, stack.temporary_bytes, stack.temporary_samples);
  stacks_.push_back(std::move(named));
}

void NamedProfile::add_older() {
  const Amount older = {as_amount(raw_.older_blocks), as_amount(raw_.older_bytes)};
  if (older.bytes == 0 && older.blocks == 0) return;
  older_.frames = {{.function = kOlder}};
  NamedStack& stack = stacks_.emplace_back();
  stack.calls = {{&older_}};
  stack.is_older = true;
  stack.live = older;
}

void NamedProfile::add_remarks() {
  const auto in_words = [](std::uint64_t bytes) { return observer::short_bytes(static_cast<double>(bytes)); };
  const std::uint64_t first =
      raw_.first_interval_bytes == 0 ? raw_.interval_bytes : raw_.first_interval_bytes;
  if (raw_.interval_bytes > 1)
    remarks_.push_back(
        fmt::format("Figures are estimates: a sample was taken every {}{}, on average.",
                    first == raw_.interval_bytes ? "" : in_words(first) + ", in the end every ",
                    in_words(raw_.interval_bytes)));
  if (!stacks_.empty() && stacks_.back().is_older)
    remarks_.push_back(fmt::format(
        "{} in {} from before the profile was switched on is live: where it was allocated is not known.",
        observer::short_bytes(stacks_.back().live.bytes),
        observer::counted_estimate(stacks_.back().live.blocks, "block")));
  if (raw_.lost_samples != 0)
    remarks_.push_back(fmt::format(
        "{} samples were lost, as there was no room for them: figures are too low.", raw_.lost_samples));
  remarks_.insert(remarks_.end(), symbols_.warnings().begin(), symbols_.warnings().end());
}

void NamedProfile::put_behind_stacks(const std::string& words) {
  Location& process = more_locations_.emplace_back();
  process.frames = {{.function = observer::printable(words)}};
  process.frames[0].role = FrameRole::kLibrary;  // no site of a stack
  for (NamedStack& stack : stacks_) stack.calls.locations.push_back(&process);
}

void NamedProfile::add(std::unique_ptr<NamedProfile> other) {
  std::unordered_map<const Location*, const Location*> moved;
  const auto moved_location = [&](const Location* location) {
    const Location*& place = moved[location];
    if (place != nullptr) return place;
    Location& copy = more_locations_.emplace_back(*location);
    if (copy.module != Location::kNoModule) copy.module += raw_.modules.size();
    return place = &copy;
  };
  for (NamedStack& stack : other->stacks_) {
    for (const Location*& location : stack.calls.locations) location = moved_location(location);
    if (stack.type != nullptr) stack.type = kept_type(*stack.type);
    stacks_.push_back(std::move(stack));
  }
  raw_.modules.insert(raw_.modules.end(), other->raw_.modules.begin(), other->raw_.modules.end());
  raw_.lost_samples += other->raw_.lost_samples;
  std::map<std::uint64_t, double> sizes;
  for (const std::vector<LiveSize>& some : {raw_.live_sizes, other->raw_.live_sizes})
    for (const LiveSize& live : some) sizes[live.size] += live.count;
  raw_.live_sizes.clear();
  for (const auto& [size, count] : sizes) raw_.live_sizes.push_back({size, count});
  for (const std::string& remark : other->remarks_)
    if (std::ranges::find(remarks_, remark) == remarks_.end()) remarks_.push_back(remark);
}

const char* name_of(Measure measure) {
  return measure == Measure::kLive ? "live" : measure == Measure::kAllocated ? "allocated" : "temporary";
}

Amount NamedProfile::total(Measure measure) const {
  Amount sum;
  for (const NamedStack& stack : stacks_) sum += stack.of(measure);
  return sum;
}

std::vector<Frame> outermost_first(const NamedStack& stack) {
  std::vector<Frame> frames = stack.frames();
  std::reverse(frames.begin(), frames.end());
  if (frames.empty()) frames.push_back({.function = "[no stack]"});
  if (!stack.pool.empty()) frames.push_back({.function = "[" + stack.pool + "]"});
  return frames;
}

}  // namespace tarn::profile
