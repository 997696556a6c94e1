#include "profile/files/debug_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "observer/files/build_id.h"
#include "profile/files/plain_sections.h"

namespace tarn::profile {
namespace {

using observer::InputFile;

std::string build_id_of(const InputFile& file) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.descriptor(), ELF_C_READ, nullptr), elf_end);
  return profile::build_id_of(elf.get());
}

GElf_Word checksum_of(const InputFile& file) {
  std::array<unsigned char, 65536> part;
  uLong sum = 0;
  std::uint64_t at = 0;
  while (const std::size_t bytes = file.read(at, part.data(), part.size())) {
    sum = crc32(sum, part.data(), static_cast<uInt>(bytes));
    at += bytes;
  }
  return static_cast<GElf_Word>(sum);
}

/// What is known of the debug file that is looked for.
struct Wanted {
  std::string build_id;
  std::string link;  // "" = none
  GElf_Word link_checksum = 0;

  bool is(const InputFile& file) const {
    if (!file.is_open()) return false;
    return !build_id.empty() ? build_id_of(file) == build_id
                             : !link.empty() && checksum_of(file) == link_checksum;
  }
};

std::vector<std::string> candidates(const Wanted& wanted, const std::string& path,
                                    const std::vector<std::string>& directories) {
  std::vector<std::string> files;
  if (const std::string id = observer::in_hex(wanted.build_id); id.size() > 2)
    for (const std::string& directory : directories)
      files.push_back(fmt::format("{}/.build-id/{}/{}.debug", directory, id.substr(0, 2), id.substr(2)));
  if (wanted.link.empty()) return files;
  const std::string beside = path.substr(0, path.rfind('/') + 1);
  for (const std::string& directory : {beside, beside + ".debug/"}) files.push_back(directory + wanted.link);
  for (const std::string& directory : directories) files.push_back(directory + beside + wanted.link);
  return files;
}

/// Asks the client of debuginfod, which keeps what it fetches. It is asked only where the user has named
/// servers.
InputFile from_server(const std::string& build_id) {
  const char* const servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0' || build_id.empty()) return {};
  const std::string command = "debuginfod-find debuginfo " + observer::in_hex(build_id) + " 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "re"), pclose);
  std::array<char, 4097> path{};
  if (output == nullptr || std::fgets(path.data(), path.size(), output.get()) == nullptr) return {};
  std::string file = path.data();
  if (file.ends_with('\n')) file.pop_back();
  return observer::open_regular_file(file);
}

}  // namespace

std::string build_id_of(Elf* elf) {
  const void* id = nullptr;
  const ssize_t bytes = elf == nullptr ? 0 : dwelf_elf_gnu_build_id(elf, &id);
  return bytes > 0 ? std::string(static_cast<const char*>(id), static_cast<std::size_t>(bytes)) : "";
}

int find_debug_file(Dwfl_Module* module, void** user_data, const char*, Dwarf_Addr, const char* path,
                    const char* link, GElf_Word link_checksum, char**) {
  const auto& places = *static_cast<const DebugPlaces*>(*user_data);
  GElf_Addr bias = 0;
  const Wanted wanted{build_id_of(dwfl_module_getelf(module, &bias)), link != nullptr ? link : "",
                      link_checksum};
  // \why not that of other debug files: libdw finds it by its own.
  if (link != nullptr && link_checksum == 0) return -1;
  for (const std::string& candidate : candidates(wanted, path != nullptr ? path : "", places.directories))
    for (const auto& open : {places.open, decltype(places.open)(observer::open_regular_file)})
      if (InputFile file = open(candidate); wanted.is(file))
        return with_plain_sections(std::move(file)).release();
  InputFile fetched = from_server(wanted.build_id);
  return wanted.is(fetched) ? with_plain_sections(std::move(fetched)).release() : -1;
}

}  // namespace tarn::profile
