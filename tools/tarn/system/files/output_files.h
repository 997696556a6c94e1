// Files that a command line names for results, opened before the command looks at anything: it may have less
// rights afterwards.
//
// Threads: one at a time.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace tarn::tool {

/// How much a command writes in all, unless its command line says more.
inline constexpr std::uint64_t kMostOutputBytes = std::uint64_t{1} << 30;
void allow_output(std::uint64_t bytes);
/// Call before so many bytes are written. \throws std::runtime_error where that is more than is left. \why
/// what is told of a program may be forged, and have no end.
void spend_output(std::uint64_t bytes);
/// Writes a whole document to standard output. \throws as spend_output()
void print_document(const std::string& content);

/// Opens a file that write_file() or take_output() is to have later, also when this process has less rights
/// by then: as root it gives them up before it looks into another user's process. What nobody has written to
/// is removed at the end, where this has made it. \throws UsageError
void open_output(const std::filesystem::path& path);
/// The same of a name that this tool has chosen: what has it, also a link that somebody put there, gives way
/// to a new file.
void make_output(const std::filesystem::path& path);
/// \returns a descriptor of it, empty now, which the caller closes; -1: errno says why there is none.
/// \throws UsageError while another command has one.
int take_output(const std::filesystem::path& path);

}  // namespace tarn::tool
