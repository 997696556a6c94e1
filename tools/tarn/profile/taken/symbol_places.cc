#include "profile/taken/symbol_places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "observer/files/kernel_text.h"
#include "observer/process/attached_process.h"

namespace tarn::tool {
namespace {

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
