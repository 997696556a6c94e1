#include "taken/mapped_modules.h"

#include <optional>
#include <string>

#include "observer/files/build_id.h"
#include "observer/files/kernel_text.h"
#include "observer/objects/symbols.h"
#include "profile/symbols/reader_process.h"

namespace tarn::tool {
namespace {

using profile::ProfileModule;

constexpr double kLongestWaitForFile = 1,
                 kLongestTimeOfAll = 3;  // seconds; all that is read is 4 KiB of each file

/// The modules of a program, and which of them have code.
struct MappedFiles {
  std::vector<ProfileModule> modules;
  std::vector<bool> have_code;
};

// Both are sorted by their addresses.
MappedFiles files_of(const observer::Source& source) {
  MappedFiles files;
  const observer::Modules modules(source.mappings());
  auto mapping = source.mappings().begin();
  const auto end = source.mappings().end();
  for (const observer::Module& file : modules.all()) {
    ProfileModule& module = files.modules.emplace_back(ProfileModule{file.start, file.end, 0, file.path, ""});
    bool has_code = source.kind() != observer::SourceKind::kProcess;  // of a dump all can be read
    while (mapping != end && mapping->start < file.start) ++mapping;
    if (mapping != end && mapping->start == file.start) {
      module.file_offset = mapping->offset;
      module.first_end = mapping->end;
    }
    for (; mapping != end && mapping->start < file.end; ++mapping)
      has_code = has_code || mapping->is_executable;
    files.have_code.push_back(has_code);
  }
  return files;
}

std::string line_of(const observer::Source& source, const ProfileModule& module) {
  const std::optional<std::string> id =
      observer::build_id_in([&](std::uint64_t offset, void* into, std::size_t bytes) {
        return source.read_all(module.start + offset, into, bytes);
      });
  return observer::in_hex(id.value_or(""));
}

std::string id_in(std::string_view line) {
  std::string id;
  for (std::size_t at = 0; at + 2 <= line.size(); at += 2)
    id += static_cast<char>(observer::number_in(line.substr(at, 2), 16));
  return id;
}

/// Reads from `next` on. \returns the first that does not answer.
std::size_t read_ids(const observer::Source& source, MappedFiles& files, std::size_t next) {
  const std::size_t count = files.modules.size();
  const auto skip_data = [&](std::size_t i) {
    while (i < count && !files.have_code[i]) ++i;
    return i;
  };
  profile::ReaderProcess reader([&](const auto& write) {
    for (std::size_t i = skip_data(next); i < count; i = skip_data(i + 1))
      write(line_of(source, files.modules[i]));
  });
  for (next = skip_data(next); next < count; next = skip_data(next + 1)) {
    const std::optional<std::string> line = reader.next_line(kLongestWaitForFile);
    if (!line) break;
    files.modules[next].build_id = id_in(*line);
  }
  return next;
}

}  // namespace

std::vector<ProfileModule> mapped_modules(const observer::Source& source) {
  MappedFiles files = files_of(source);
  double waited = 0;
  for (std::size_t next = 0; (next = read_ids(source, files, next)) < files.modules.size();) {
    waited += kLongestWaitForFile;
    const std::string& path = files.modules[next].path;
    for (std::size_t i = next; i < files.modules.size(); ++i) {
      if (files.modules[i].path != path && waited < kLongestTimeOfAll) continue;
      files.modules[i].does_not_answer = true;
      files.have_code[i] = false;
    }
  }
  return std::move(files.modules);
}

}  // namespace tarn::tool
