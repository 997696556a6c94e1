#include "named_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "amount_text.h"
#include "function_name.h"
#include "observer/printable.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kDeepestStack = 1024;
constexpr const char* kOlder = "[allocated before the profile was switched on]";

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
double as_amount(double number) { return std::isfinite(number) && number > 0 ? std::min(number, 9e15) : 0; }

}  // namespace

std::vector<Call> without_allocator(const std::vector<Call>& calls, const HeapProfile& profile) {
  std::size_t first = 0;
  while (first < calls.size() && is_allocators(*calls[first].location, profile)) ++first;
  if (first == calls.size()) return calls;
  std::vector<Call> left(calls.begin() + static_cast<std::ptrdiff_t>(first), calls.end());
  const std::vector<Frame>& frames = left.front().location->frames;
  std::size_t& skipped = left.front().skipped;
  while (skipped + 1 < frames.size() && is_allocators(frames[skipped])) ++skipped;
  return left;
}

std::vector<Frame> NamedStack::frames() const {
  std::vector<Frame> frames;
  for (const Call& call : calls) frames.insert(frames.end(), call.frames().begin(), call.frames().end());
  return frames;
}

std::size_t site_of(const std::vector<Frame>& frames) {
  const auto site = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) {
    // Where Rust's library was built.
    return !frame.file.starts_with("/rustc/") && !is_of_library(frame.function);
  });
  return site == frames.end() ? 0 : static_cast<std::size_t>(site - frames.begin());
}

std::string frame_in_words(const Frame& frame) {
  if (frame.file.empty()) return frame.function;
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  return frame.line == 0 ? fmt::format("{} ({})", frame.function, file)
                         : fmt::format("{} ({}:{})", frame.function, file, frame.line);
}

NamedProfile::NamedProfile(HeapProfile profile, const SymbolPlaces& places, const Progress& progress)
    : raw_(std::move(profile)),
      symbols_(raw_, places, progress),
      program_(observer::printable(raw_.program)) {
  for (const ProfileStack& stack : raw_.stacks) add_stack(stack);
  add_older();
  add_remarks();
}

void NamedProfile::add_stack(const ProfileStack& stack) {
  NamedStack named;
  std::vector<Call> calls;
  for (const std::uint64_t address : stack.addresses)
    if (calls.size() < kDeepestStack) calls.push_back({&symbols_.at(address), 0});
  named.calls = without_allocator(calls, raw_);
  named.pool = observer::printable(stack.pool);
  named.allocated = {as_amount(stack.allocated_blocks), as_amount(stack.allocated_bytes)};
  named.live = {as_amount(stack.live_blocks), as_amount(stack.live_bytes)};
  stacks_.push_back(std::move(named));
}

void NamedProfile::add_older() {
  const Amount older = {as_amount(raw_.older_blocks), as_amount(raw_.older_bytes)};
  if (older.bytes == 0 && older.blocks == 0) return;
  older_.frames = {{.function = kOlder}};
  stacks_.push_back({.calls = {{&older_, 0}}, .pool = {}, .is_older = true, .allocated = {}, .live = older});
}

void NamedProfile::add_remarks() {
  if (raw_.interval_bytes > 1)
    remarks_.push_back(fmt::format("Figures are estimates: a sample was taken every {}, on average.",
                                   bytes_text(static_cast<double>(raw_.interval_bytes))));
  if (!stacks_.empty() && stacks_.back().is_older)
    remarks_.push_back(
        fmt::format("{} in {} from before the profile was switched on is live: where it was allocated is not "
                    "known.",
                    bytes_text(stacks_.back().live.bytes), counted(stacks_.back().live.blocks, "block")));
  if (raw_.lost_samples != 0)
    remarks_.push_back(fmt::format(
        "{} samples were lost, as there was no room for them: figures are too low.", raw_.lost_samples));
  remarks_.insert(remarks_.end(), symbols_.warnings().begin(), symbols_.warnings().end());
}

void NamedProfile::put_behind_stacks(const std::string& words) {
  Location& process = more_locations_.emplace_back();
  process.frames = {{.function = observer::printable(words)}};
  for (NamedStack& stack : stacks_) stack.calls.push_back({&process, 0});
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
    for (Call& call : stack.calls) call.location = moved_location(call.location);
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

Amount NamedProfile::total(Measure measure) const {
  Amount sum;
  for (const NamedStack& stack : stacks_) sum += stack.amount(measure);
  return sum;
}

}  // namespace tarn::profile
