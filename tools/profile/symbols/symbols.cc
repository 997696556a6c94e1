#include "profile/symbols/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>

#include "observer/text/printable.h"
#include "profile/symbols/file_names.h"
#include "profile/symbols/reader_process.h"

namespace tarn::profile {
namespace {

// A file's debug information may be gigabytes.
constexpr double kLongestWait = 20, kLongestTime = 300;  // seconds
constexpr std::size_t kFieldsOfFrame = 5;

std::vector<std::uint64_t> distinct_addresses(const HeapProfile& profile) {
  std::unordered_set<std::uint64_t> distinct;
  for (const ProfileStack& stack : profile.stacks)
    distinct.insert(stack.addresses.begin(), stack.addresses.end());
  std::vector<std::uint64_t> addresses(distinct.begin(), distinct.end());
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

/// \returns the number of the module that holds the call that returns to `address`. Modules may be forged:
/// of those that overlap any one is right.
std::size_t module_of(const HeapProfile& profile, const std::multimap<std::uint64_t, std::size_t>& by_start,
                      std::uint64_t address) {
  const auto behind = by_start.upper_bound(address - 1);
  if (address == 0 || behind == by_start.begin()) return Location::kNoModule;
  const std::size_t module = std::prev(behind)->second;
  return address - 1 < profile.modules[module].end ? module : Location::kNoModule;
}

Frame frame_without_name(const HeapProfile& profile, const Location& location) {
  if (location.address == ProfileStack::kLeftOut) return {.function = "[frames left out]"};
  if (location.module == Location::kNoModule) return {.function = fmt::format("{:#x}", location.address)};
  const ProfileModule& module = profile.modules[location.module];
  return {.function = fmt::format("{}+{:#x}", module_name(module.path),
                                  location.address - module.start + module.file_offset)};
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0, end; at <= line.size(); at = end + 1) {
    end = std::min(line.find('\t', at), line.size());
    fields.push_back(line.substr(at, end - at));
  }
  return fields;
}

template <typename Number>
Number number_in(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string line_of(std::uint64_t address, const std::vector<Frame>& frames) {
  std::string line = fmt::format("address\t{}", address);
  for (const Frame& frame : frames)
    line += fmt::format("\t{}\t{}\t{}\t{:d}\t{}", observer::printable(frame.function),
                        observer::printable(frame.file), frame.line, frame.is_inlined,
                        observer::printable(frame.makes));
  return line;
}

/// \returns no more than whole frames with names.
std::vector<Frame> frames_in(const std::vector<std::string_view>& fields) {
  std::vector<Frame> frames;
  for (std::size_t at = 2; at + kFieldsOfFrame <= fields.size(); at += kFieldsOfFrame)
    if (!fields[at].empty())
      frames.push_back({.function = observer::printable(fields[at]),
                        .file = observer::printable(fields[at + 1]),
                        .line = number_in<unsigned>(fields[at + 2]),
                        .is_inlined = fields[at + 3] == "1",
                        .makes = observer::printable(fields[at + 4])});
  return frames;
}

/// Gives addresses their names, file by file.
class Search {
 public:
  Search(const HeapProfile& profile, const SymbolPlaces& places,
         std::unordered_map<std::uint64_t, Location>& locations, std::vector<std::string>& warnings)
      : profile_(profile), places_(places), locations_(locations), warnings_(warnings) {}

  void add(std::uint64_t address, std::size_t module) {
    // One file's addresses after another's, though it is mapped in pieces.
    const std::string path = module == Location::kNoModule ? "" : profile_.modules[module].path;
    const std::string id = module == Location::kNoModule ? "" : profile_.modules[module].build_id;
    files_[{path, id}][module].push_back(address);
  }

  void run(const Progress& progress) {
    next_ = files_.begin();
    while (next_ != files_.end() && waited_ < kLongestTime) read_from_next(progress);
  }

 private:
  using Files = std::map<std::pair<std::string, std::string>, AddressesByModule>;

  /// Reads files in a process, until all are read or one has ended it: that one is left out then.
  void read_from_next(const Progress& progress) {
    ReaderProcess reader([this](const auto& write) {
      for (; next_ != files_.end(); ++next_) {
        const std::string remark = name_addresses(
            profile_, next_->second, places_,
            [&](std::uint64_t address, const auto& frames) { write(line_of(address, frames)); });
        write("end\t" + observer::printable(remark));
      }
    });
    while (next_ != files_.end()) {
      const std::optional<std::string> line = reader.next_line(kLongestWait);
      if (!line) break;
      take(fields_of(*line));
      if (progress) progress(done_, locations_.size());
    }
    if (next_ == files_.end()) return;
    warn("could not be read in time, or is damaged: not all of its functions have names");
    waited_ += kLongestWait;
    ++next_;
  }

  void take(const std::vector<std::string_view>& fields) {
    if (fields[0] == "end") {
      if (fields.size() > 1 && !fields[1].empty()) warn(std::string(fields[1]));
      ++next_;
    } else if (fields.size() > 1) {
      const auto location = locations_.find(number_in<std::uint64_t>(fields[1]));
      std::vector<Frame> frames = frames_in(fields);
      ++done_;
      if (location == locations_.end() || frames.empty()) return;
      location->second.has_function = true;
      location->second.frames = std::move(frames);
    }
  }

  void warn(const std::string& what) {
    warnings_.push_back(
        fmt::format("{} {}", observer::printable(next_->first.first), observer::printable(what)));
  }

  const HeapProfile& profile_;
  const SymbolPlaces& places_;
  std::unordered_map<std::uint64_t, Location>& locations_;
  std::vector<std::string>& warnings_;
  Files files_;
  Files::const_iterator next_;
  std::size_t done_ = 0;
  double waited_ = 0;
};

}  // namespace

SymbolPlaces places_of_core() { return {.files = {.open = observer::open_regular_file}}; }

std::string module_name(const std::string& path) {
  std::string_view name = path;
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return observer::printable(name.substr(name.rfind('/') + 1));
}

Symbols::Symbols(const HeapProfile& profile, const SymbolPlaces& places, const Progress& progress) {
  std::multimap<std::uint64_t, std::size_t> by_start;
  for (std::size_t i = 0; i < profile.modules.size(); ++i) by_start.emplace(profile.modules[i].start, i);
  Search search(profile, places, locations_, warnings_);
  for (const std::uint64_t address : distinct_addresses(profile)) {
    Location& location = locations_[address];
    location.address = address;
    location.module = module_of(profile, by_start, address);
    location.frames = {frame_without_name(profile, location)};
    search.add(address, location.module);
  }
  search.run(progress);
}

void Symbols::set_roles(const std::function<FrameRole(const Frame&)>& role_of) {
  for (auto& [address, location] : locations_)
    for (Frame& frame : location.frames)
      if (location.has_function) frame.role = role_of(frame);
}

}  // namespace tarn::profile
