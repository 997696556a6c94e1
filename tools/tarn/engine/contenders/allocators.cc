// Lookup of allocators by name, path and version.
#include "engine/contenders/allocators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "system/runs/runner.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

using Version = std::vector<int>;

/// The numbers behind a soname: {2, 0} of "libmimalloc.so.2.0", {} of the soname alone, nothing if it is
/// another file.
std::optional<Version> version_of(const std::string& file_name, const std::string& soname) {
  if (!file_name.starts_with(soname)) return std::nullopt;
  Version version;
  for (std::size_t at = soname.size(); at < file_name.size();) {
    const std::size_t end = std::min(file_name.find('.', at + 1), file_name.size());
    const std::string number = file_name.substr(at + 1, end - at - 1);
    const bool is_number =
        !number.empty() && number.size() < 9 && number.find_first_not_of("0123456789") == std::string::npos;
    if (file_name[at] != '.' || !is_number) return std::nullopt;
    version.push_back(std::stoi(number));
    at = end;
  }
  return version;
}

std::string newest_in(const std::string& directory, const std::string& soname) {
  std::string newest;
  Version newest_version;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const auto version = version_of(entry.path().filename().string(), soname);
    if (!version || access(entry.path().c_str(), R_OK) != 0) continue;  // also a link to nowhere
    if (!newest.empty() && *version <= newest_version) continue;
    newest = entry.path().string();
    newest_version = *version;
  }
  return newest;
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.find(".so") != std::string::npos;
}

std::string names_of_known() {
  std::vector<std::string> names;
  for (const KnownAllocator& known : known_allocators()) names.emplace_back(known.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// LD_PRELOAD separates its entries by blanks and colons and knows no quoting.
void require_preloadable_name(const std::string& path) {
  if (path.find_first_of(" :\t") != std::string::npos)
    throw UsageError(
        fmt::format("LD_PRELOAD cannot carry a path with a blank or a colon: '{}'; link it elsewhere", path));
}

Allocator by_path(const std::string& name, const std::string& path) {
  if (!is_file(path)) throw UsageError(fmt::format("no library at '{}'", path));
  const std::string library = fs::absolute(path).lexically_normal().string();
  require_preloadable_name(library);
  if (!name.empty()) return {name, library};
  const std::string file_name = fs::path(path).filename().string();
  return {file_name.substr(0, file_name.find(".so")), library};
}

Allocator by_name(const std::string& name, const Directories& directories) {
  const KnownAllocator* known = find_known(name);
  if (known == nullptr)
    throw UsageError(
        fmt::format("unknown allocator '{}': use {}, or the path of a .so", name, names_of_known()));
  const std::string library = find_library(*known, directories);
  if (library.empty())
    throw UsageError(fmt::format("{} is not installed: apt-get install {}", name, known->debian_package));
  return {name, library};
}

Allocator own_allocator(const std::string& name, const Settings& settings) {
  return {name, find_tarn_library(), settings, {}, "tarn " TARN_VERSION_STRING};
}

std::vector<Allocator> all_installed(const Directories& directories) {
  std::vector<Allocator> found;
  for (const KnownAllocator& known : known_allocators()) {
    const std::string library = find_library(known, directories);
    if (!library.empty()) found.push_back({known.name, library});
  }
  return found;
}

std::vector<Allocator> chosen_by(const std::string& entry, const Directories& directories) {
  if (entry == "all") return all_installed(directories);
  if (entry == "none" || entry == kSystemName || entry == "system" || entry == kTarnName) return {};
  const std::size_t equals = entry.find('=');
  if (equals != std::string::npos) return {by_path(entry.substr(0, equals), entry.substr(equals + 1))};
  return {is_path(entry) ? by_path("", entry) : by_name(entry, directories)};
}

void leave_out(const std::string& name, std::vector<Allocator>& allocators) {
  if (name == kSystemName || name == "system")
    throw UsageError(
        "the system's allocator cannot be left out: its output is what the others are checked against");
  const auto removed = std::erase_if(allocators, [&](const Allocator& a) { return a.name == name; });
  if (removed == 0 && name != kTarnName && find_known(name) == nullptr)
    throw UsageError(
        fmt::format("--without {}: no allocator of that name; known are tarn, {}", name, names_of_known()));
}

/// Name and version of a Debian package.
std::string package_version(const std::string& package, SignalWatch& signals) {
  constexpr double kMostSeconds = 10;
  const RunResult run = run_program({.command = {"dpkg-query", "-W", "-f", "${Package} ${Version}", package},
                                     .environment = Environment().entries(),
                                     .timeout_seconds = kMostSeconds},
                                    signals);
  return run.ending == Ending::kExited && run.code == 0 ? run.output.kept() : "";
}

}  // namespace

const std::vector<KnownAllocator>& known_allocators() {
  static const std::vector<KnownAllocator> known = {
      {"mimalloc", {"libmimalloc.so"}, "libmimalloc2.0"},
      {"jemalloc", {"libjemalloc.so"}, "libjemalloc2"},
      {"tcmalloc", {"libtcmalloc_minimal.so", "libtcmalloc.so"}, "libtcmalloc-minimal4"},
      {"tbb", {"libtbbmalloc_proxy.so"}, "libtbbmalloc2"},
  };
  return known;
}

const KnownAllocator* find_known(const std::string& name) {
  for (const KnownAllocator& known : known_allocators())
    if (name == known.name) return &known;
  return nullptr;
}

const Directories& library_directories() {
  static const Directories directories = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib", "/usr/local/lib"};
  return directories;
}

std::string find_library(const KnownAllocator& known, const Directories& directories) {
  for (const char* soname : known.sonames)
    for (const std::string& directory : directories)
      if (std::string path = newest_in(directory, soname); !path.empty()) return path;
  return {};
}

namespace {

/// By the name that links take, or by the soname alone, where no package of headers is installed.
std::string library_in(const fs::path& directory, const std::string& name) {
  const std::string soversion = TARN_VERSION_MAJOR == 0 ? fmt::format(".0.{}", TARN_VERSION_MINOR)
                                                        : fmt::format(".{}", TARN_VERSION_MAJOR);
  for (const std::string& version : {std::string(), soversion}) {
    const fs::path candidate = (directory / (name + version)).lexically_normal();
    if (is_file(candidate)) return candidate.string();
  }
  return {};
}

}  // namespace

std::string find_tarn_library() {
  if (const std::string named = file_named_by("TARN_LIBRARY"); !named.empty())
    return by_path(kTarnName, named).library;
  const fs::path own = own_directory();
  for (const char* place :
       {".", "../lib", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "../lib64"}) {
    if (const std::string found = library_in(own / place, "libtarn.so"); !found.empty())
      return by_path(kTarnName, found).library;
  }
  throw UsageError(fmt::format(
      "libtarn.so is neither in {} nor in ../lib beside it: build it, or set TARN_LIBRARY to its path",
      own.string()));
}

std::string find_hardened_library() {
  const fs::path directory = fs::path(find_tarn_library()).parent_path();
  if (std::string found = library_in(directory, "libtarn-hardened.so"); !found.empty()) return found;
  throw UsageError(fmt::format("there is no {}: build it, or set TARN_LIBRARY to the library beside it",
                               (directory / "libtarn-hardened.so").string()));
}

std::vector<Allocator> select_allocators(const Selection& selection, const Directories& directories) {
  const bool is_with_tarn =
      std::find(selection.without.begin(), selection.without.end(), kTarnName) == selection.without.end();
  std::vector<Allocator> chosen = {
      {kSystemName, "", {}, {}, fmt::format("glibc {}", gnu_get_libc_version())}};
  if (is_with_tarn) chosen.push_back(own_allocator(kTarnName, selection.tarn_settings));
  for (const Allocator& variant : selection.variants)
    chosen.push_back(own_allocator(variant.name, variant.settings));
  const std::vector<std::string> entries =
      selection.with.empty() ? std::vector<std::string>{"all"} : selection.with;
  for (const std::string& entry : entries)
    for (Allocator& allocator : chosen_by(entry, directories)) chosen.push_back(std::move(allocator));
  for (const std::string& name : selection.without) leave_out(name, chosen);
  require_distinct_names(chosen);
  return chosen;
}

void require_distinct_names(const std::vector<Allocator>& allocators) {
  for (std::size_t i = 0; i < allocators.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (allocators[i].name == allocators[j].name)
        throw UsageError(fmt::format("two allocators are called '{}': write NAME=PATH to tell them apart",
                                     allocators[i].name));
}

Environment environment_on(const Allocator& allocator, Environment environment) {
  environment.remove("LD_PRELOAD");
  if (!allocator.is_system()) environment.preload(allocator.library);
  environment.set(allocator.settings);
  return environment;
}

std::vector<std::string> missing_packages(const Directories& directories) {
  std::vector<std::string> missing;
  for (const KnownAllocator& known : known_allocators())
    if (find_library(known, directories).empty()) missing.emplace_back(known.debian_package);
  return missing;
}

std::string version_of(const Allocator& allocator, SignalWatch& signals) {
  if (!allocator.version.empty()) return allocator.version;
  const KnownAllocator* known = find_known(allocator.name);
  if (known == nullptr || find_library(*known, library_directories()) != allocator.library) return {};
  return package_version(known->debian_package, signals);
}

}  // namespace tarn::tool
