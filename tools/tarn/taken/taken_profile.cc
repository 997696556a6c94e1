#include "taken/taken_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/options/option_parser.h"
#include "base/options/option_table.h"
#include "observer/files/kernel_text.h"
#include "observer/findings/watches.h"
#include "observer/process/attached_process.h"
#include "system/files/usage_error.h"
#include "taken/mapped_modules.h"

namespace tarn::tool {
namespace {

using observer::Sampling;

/// "heap 3 "level"", for messages and documents.
class PoolNames {
 public:
  explicit PoolNames(const observer::Snapshot& snapshot) {
    for (const observer::Pool& pool : snapshot.pools)
      names_[pool.number] = fmt::format("{} {} \"{}\"", pool.kind_name, pool.number, pool.name);
  }
  std::string of(std::uint64_t number) const {
    if (number == 0) return "";
    const auto found = names_.find(number);
    return found != names_.end() ? found->second : fmt::format("pool {} (ended)", number);
  }

 private:
  std::unordered_map<std::uint64_t, std::string> names_;
};

/// The files that have gone since their stacks were taken. Their addresses are moved to where no program has
/// any, so that those of what is loaded there now are not taken for them.
class GoneModules {
 public:
  GoneModules(const Sampling& sampling, std::vector<profile::ProfileModule>& modules)
      : noted_(sampling.modules), modules_(modules), loaded_(modules.size()), places_(noted_.size(), 0) {
    for (const observer::NotedModule& noted : noted_) {
      parts_[noted.start];
      parts_[noted.end];
    }
    for (std::size_t i = noted_.size(); i-- > 0;)
      for (auto part = parts_.find(noted_[i].start); part->first < noted_[i].end; ++part)
        add(part->second, i);
  }

  observer::Address moved(std::uint64_t stack, observer::Address address) {
    const auto behind = parts_.upper_bound(address - 1);
    if (behind == parts_.begin()) return address;
    const std::vector<std::size_t>& those = std::prev(behind)->second;
    const auto found = std::lower_bound(
        those.begin(), those.end(), stack,
        [this](std::size_t i, std::uint64_t number) { return noted_[i].first_stack > number; });
    return found == those.end() ? address : address - noted_[*found].start + place_of(*found);
  }

 private:
  static constexpr observer::Address kFirstPlace = observer::Address{1} << 63,
                                     kRoom = observer::Address{1} << 40;

  // The newest counts that was noted before a stack: one hidden by a newer of the same stacks is left out.
  void add(std::vector<std::size_t>& part, std::size_t i) {
    if (part.empty() || noted_[i].first_stack < noted_[part.back()].first_stack) part.push_back(i);
  }

  observer::Address place_of(std::size_t i) {
    if (places_[i] == 0) places_[i] = is_loaded(noted_[i]) ? noted_[i].start : make_module(i);
    return places_[i];
  }

  bool is_loaded(const observer::NotedModule& noted) const {
    const auto end = modules_.begin() + static_cast<std::ptrdiff_t>(loaded_);
    const auto module = std::lower_bound(
        modules_.begin(), end, noted.start,
        [](const profile::ProfileModule& one, observer::Address start) { return one.start < start; });
    return module != end && module->start == noted.start &&
           (module->does_not_answer || module->build_id == noted.build_id) &&
           (!noted.build_id.empty() || module->path.starts_with(noted.path));
  }

  observer::Address make_module(std::size_t i) {
    const observer::Address start = kFirstPlace + i * kRoom;
    const observer::Address bytes = std::min(noted_[i].end - noted_[i].start, kRoom);
    modules_.push_back({start, start + bytes, 0, noted_[i].path, noted_[i].build_id});
    return start;
  }

  const std::vector<observer::NotedModule>& noted_;
  std::vector<profile::ProfileModule>& modules_;
  const std::size_t loaded_;
  // From each end of a noted file on, up to the next one: those that lie there, the newest first.
  std::map<observer::Address, std::vector<std::size_t>> parts_;
  std::vector<observer::Address> places_;  // 0: not looked up
};

/// What the samples of a stack stood for before the profile began.
using StacksBefore = std::unordered_map<std::uint64_t, const observer::SampledStack*>;

StacksBefore by_number(const Sampling& sampling) {
  StacksBefore before;
  for (const observer::SampledStack& stack : sampling.stacks) before[stack.number] = &stack;
  return before;
}

double since(double now, double before) { return now > before ? now - before : 0; }

profile::ProfileStack stack_since(observer::SampledStack& stack, const StacksBefore& before,
                                  const PoolNames& names) {
  const auto found = before.find(stack.number);
  const observer::SampledStack none;
  const observer::SampledStack& was = found != before.end() ? *found->second : none;
  profile::ProfileStack result;
  result.addresses = std::move(stack.addresses);
  result.pool = names.of(stack.pool);
  result.samples = stack.samples > was.samples ? stack.samples - was.samples : 0;
  result.allocated_blocks = since(stack.blocks, was.blocks);
  result.allocated_bytes = since(stack.bytes, was.bytes);
  result.temporary_samples =
      stack.temporary_samples - std::min(stack.temporary_samples, was.temporary_samples);
  result.temporary_blocks = since(stack.temporary_blocks, was.temporary_blocks);
  result.temporary_bytes = since(stack.temporary_bytes, was.temporary_bytes);
  result.second_bytes = since(stack.second_bytes, was.second_bytes);
  return result;
}

void add_live(profile::ProfileStack& stack, const observer::SampledBlock& sample,
              std::uint64_t last_made_ns) {
  const double blocks = observer::blocks_of(sample);
  const double bytes = blocks * static_cast<double>(sample.requested);
  ++stack.live_samples;
  stack.live_blocks += blocks;
  stack.live_bytes += bytes;
  stack.live_squares += bytes * bytes;
  if (sample.made_ns > last_made_ns) stack.new_live_bytes += bytes;
}

/// Of the general pool: blocks of others need not be of a size class.
std::vector<profile::LiveSize> live_sizes_of(const Sampling& sampling) {
  std::map<std::uint64_t, double> counts;
  for (const observer::SampledBlock& sample : sampling.live)
    if (sample.pool == 0) counts[sample.requested] += observer::blocks_of(sample);
  std::vector<profile::LiveSize> sizes;
  for (const auto& [size, count] : counts) sizes.push_back({size, count});
  return sizes;
}

/// Puts samples behind each other that are of one stack and one size.
void sort_by_stack(std::vector<observer::SampledBlock>& live) {
  std::ranges::sort(live, [](const observer::SampledBlock& a, const observer::SampledBlock& b) {
    return a.stack != b.stack ? a.stack < b.stack : a.requested < b.requested;
  });
}

struct LiveSum {
  double blocks = 0, bytes = 0;
};

/// Adds a stack's live samples to it. By size, each further size gets a stack with the same addresses.
LiveSum add_live_of_stack(std::vector<profile::ProfileStack>& stacks,
                          std::span<const observer::SampledBlock> samples, std::uint64_t last_made_ns,
                          BySize by_size) {
  LiveSum sum;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (by_size == BySize::kYes && i != 0 && samples[i].requested != samples[i - 1].requested)
      stacks.push_back({stacks.back().addresses, stacks.back().pool, stacks.back().number});
    add_live(stacks.back(), samples[i], last_made_ns);
    const double blocks = observer::blocks_of(samples[i]);
    sum.blocks += blocks;
    sum.bytes += blocks * static_cast<double>(samples[i].requested);
  }
  return sum;
}

// -- Where the names of its code are looked for ----------------------------------------------------------

using observer::AttachedProcess;
using observer::InputFile;

unsigned owner_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_uid : static_cast<unsigned>(-1);
}

/// The number that the process has for itself: the last of those that namespaces give it.
std::string own_number(const AttachedProcess& process) {
  const std::string status = process.text("status").value_or("");
  const std::string_view numbers = observer::field_of(status, "NSpid:");
  return std::string(numbers.substr(numbers.find_last_of(" \t") + 1));
}

/// Only the process's own user may name its code.
InputFile open_jit_names(const AttachedProcess& process) {
  InputFile file = process.open_file_of(fmt::format("/tmp/perf-{}.map", own_number(process)));
  return file.is_open() && owner_of(file.descriptor()) == owner_of(process.directory()) ? std::move(file)
                                                                                        : InputFile();
}

/// \why the kernel lets only root follow these
InputFile open_mapping(const AttachedProcess& process, std::uint64_t start, std::uint64_t end) {
  return observer::open_regular_place(
      InputFile(fmt::format("map_files/{:x}-{:x}", start, end), O_PATH, process.directory()));
}

}  // namespace

bool began_with_program(const observer::Source& source) {
  const observer::WatchWords words = observer::read_watch_words(source);
  const std::string& by = words.profile_source;
  return !words.is_profiled_by_tool && (by == "environment" || by == "TARN_CONF" || by == "TARN_CONF_FILE");
}

profile::HeapProfile taken_profile(const observer::Source& source, const ProfileStart& start,
                                   observer::Sampling sampling, std::uint64_t interval, double seconds,
                                   BySize by_size) {
  const observer::Snapshot snapshot = observer::read_snapshot(source);
  const PoolNames names(snapshot);
  profile::HeapProfile profile;
  profile.interval_bytes = interval;
  profile.program = source.program();
  profile.library = snapshot.library_version;
  profile.pid = source.pid();
  profile.seconds = seconds;
  profile.lost_samples = (sampling.lost > start.sampling.lost ? sampling.lost - start.sampling.lost : 0);
  profile.modules = mapped_modules(source);
  GoneModules gone(sampling, profile.modules);
  profile.live_sizes = live_sizes_of(sampling);
  const StacksBefore before = by_number(start.sampling);
  sort_by_stack(sampling.live);
  profile.stacks.reserve(sampling.stacks.size());
  LiveSum live;
  auto next = sampling.live.cbegin();
  for (observer::SampledStack& stack : sampling.stacks) {
    profile.stacks.push_back(stack_since(stack, before, names));
    profile.stacks.back().number = stack.number;
    for (observer::Address& address : profile.stacks.back().addresses)
      address = gone.moved(stack.number, address);
    while (next != sampling.live.cend() && next->stack < stack.number) ++next;
    const auto first = next;
    while (next != sampling.live.cend() && next->stack == stack.number) ++next;
    const LiveSum of_stack = add_live_of_stack(profile.stacks, {first, next}, start.last_made_ns, by_size);
    live.blocks += of_stack.blocks;
    live.bytes += of_stack.bytes;
  }
  if (!start.began_with_program) {
    const auto live_blocks = static_cast<double>(snapshot.totals.live_blocks),
               live_bytes = static_cast<double>(snapshot.totals.live_bytes);
    profile.older_blocks = std::max(0.0, live_blocks - live.blocks);
    profile.older_bytes = std::max(0.0, live_bytes - live.bytes);
  }
  std::erase_if(profile.stacks, [](const profile::ProfileStack& stack) {
    return stack.samples == 0 && stack.live_samples == 0;
  });
  return profile;
}

std::uint64_t sample_interval(const std::string& text) {
  constexpr const internal::OptionInfo& kOption =
      internal::kOptionTable[static_cast<std::size_t>(internal::Option::kProfile)];
  std::int64_t bytes = 0;
  if (!internal::parse_option_value(kOption, text, &bytes) || bytes < 1)
    throw UsageError(
        fmt::format("\"{}\" is no distance of two samples: from 1 (each block) to 1G, as in 512K", text));
  return static_cast<std::uint64_t>(bytes);
}

profile::SymbolPlaces symbol_places(const observer::Source& source) {
  profile::SymbolPlaces places;
  places.files.open = [&source](const std::string& path) { return observer::file_of(source, path); };
  places.read_memory = [&source](std::uint64_t address, void* into, std::size_t bytes) {
    return source.read(address, into, bytes);
  };
  if (const AttachedProcess* const process = observer::process_of(source)) {
    places.open_mapping = [process](std::uint64_t start, std::uint64_t end) {
      return open_mapping(*process, start, end);
    };
    places.open_jit_names = [process] { return open_jit_names(*process); };
  }
  return places;
}

}  // namespace tarn::tool
