#include "symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "observer/outside_wait.h"
#include "observer/printable.h"
#include "symbol_file.h"

namespace tarn::profile {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::vector<std::uint64_t> distinct_addresses(const HeapProfile& profile) {
  std::vector<std::uint64_t> addresses;
  for (const ProfileStack& stack : profile.stacks)
    addresses.insert(addresses.end(), stack.addresses.begin(), stack.addresses.end());
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
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

/// Whether the file's first segment would lie in memory where one of its mappings starts.
bool is_loaded_at(const HeapProfile& profile, const ProfileModule& module, const SymbolFile& file,
                  std::uint64_t bias) {
  const auto first = file.first_segment();
  return first &&
         std::any_of(profile.modules.begin(), profile.modules.end(), [&](const ProfileModule& other) {
           return other.path == module.path && other.start == first->second + bias &&
                  other.file_offset == first->first;
         });
}

/// \returns how far the file's addresses are from where they lie in memory. A page of the file may belong to
/// two segments; then the one that agrees with where the file begins in memory.
std::optional<std::uint64_t> bias_of(const HeapProfile& profile, const ProfileModule& module,
                                     const SymbolFile& file) {
  std::optional<std::uint64_t> found;
  const std::vector<std::uint64_t> addresses = file.addresses_at(module.file_offset);
  for (auto address = addresses.rbegin(); address != addresses.rend(); ++address) {
    const std::uint64_t bias = module.start - *address;
    if (is_loaded_at(profile, module, file, bias)) return bias;
    if (!found) found = bias;
  }
  return found;
}

void make_printable(Frame& frame) {
  frame.function = observer::printable(frame.function);
  frame.file = observer::printable(frame.file);
}

Frame frame_without_name(const ProfileModule& module, std::uint64_t address) {
  return {.function =
              fmt::format("{}+{:#x}", module_name(module.path), address - module.start + module.file_offset)};
}

/// \returns why the file does not tell the module's names; "" if it does.
std::string reason_against(const ProfileModule& module, const SymbolFile& file) {
  if (module.path.ends_with(kDeleted)) return "was deleted or replaced since the program loaded it";
  if (!file.is_elf()) return "cannot be read as a program or library";
  if (file.build_id() != module.build_id) return "is not the file that the program loaded (another build id)";
  return {};
}

}  // namespace

SymbolPlaces places_of_process(int pid) {
  const std::string root = fmt::format("/proc/{}/root", pid);
  return {root, {root + "/usr/lib/debug", "/usr/lib/debug"}};
}

SymbolPlaces places_of_core() { return {}; }

std::string module_name(const std::string& path) {
  std::string_view name = path;
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return observer::printable(name.substr(name.rfind('/') + 1));
}

Symbols::Symbols(const HeapProfile& profile, const SymbolPlaces& places, const Progress& progress) {
  std::multimap<std::uint64_t, std::size_t> by_start;
  for (std::size_t i = 0; i < profile.modules.size(); ++i) by_start.emplace(profile.modules[i].start, i);

  // One file's addresses after another's, though it is mapped in pieces.
  std::map<std::string, AddressesByModule> by_path;
  const std::vector<std::uint64_t> addresses = distinct_addresses(profile);
  for (const std::uint64_t address : addresses) {
    const std::size_t module = module_of(profile, by_start, address);
    Location& location = locations_[address];
    location.address = address;
    location.module = module;
    location.frames = {{.function = address == ProfileStack::kLeftOut ? "[frames left out]"
                                                                      : fmt::format("{:#x}", address)}};
    if (module != Location::kNoModule) by_path[profile.modules[module].path][module].push_back(address);
  }
  std::size_t done = 0;
  for (const auto& [path, by_module] : by_path) {
    if (progress) progress(done, addresses.size());
    look_up_file(profile, by_module, places);
    for (const auto& [module, own] : by_module) done += own.size();
  }
  if (progress) progress(addresses.size(), addresses.size());
}

void Symbols::look_up_file(const HeapProfile& profile, const AddressesByModule& addresses,
                           const SymbolPlaces& places) {
  const observer::OutsideWait waiting;
  const ProfileModule& any = profile.modules[addresses.begin()->first];
  const bool is_file = any.path.starts_with('/');
  SymbolFile file(is_file ? places.root + any.path : "");
  const std::string reason = is_file ? reason_against(any, file) : "";
  if (is_file && reason.empty()) file.read_names(places.debug_directories);
  if (!reason.empty())
    warnings_.push_back(
        fmt::format("{} {}: its functions have no names", observer::printable(any.path), reason));
  for (const auto& [module, own] : addresses) {
    const std::optional<std::uint64_t> bias =
        reason.empty() ? bias_of(profile, profile.modules[module], file) : std::nullopt;
    for (const std::uint64_t address : own) {
      Location& location = locations_.at(address);
      std::vector<Frame> frames = bias ? file.frames_at(address - 1 - *bias) : std::vector<Frame>{};
      location.has_function = !frames.empty();
      if (frames.empty()) frames.push_back(frame_without_name(profile.modules[module], address));
      for (Frame& frame : frames) make_printable(frame);
      location.frames = std::move(frames);
    }
  }
}

}  // namespace tarn::profile
