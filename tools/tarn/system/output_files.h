// Files that a command line names for results, opened before the command looks at anything: it may have less
// rights afterwards.
//
// Threads: one at a time.
#pragma once
#include <filesystem>

namespace tarn::tool {

/// Opens a file that write_file() or take_output() is to have later, also when this process has less rights
/// by then: as root it gives them up before it looks into another user's process. What nobody has written to
/// is removed at the end, where this has made it. \throws UsageError
void open_output(const std::filesystem::path& path);
/// The same of a name that this tool has chosen: what has it, also a link that somebody put there, gives way
/// to a new file.
void make_output(const std::filesystem::path& path);
/// \returns a descriptor of it, empty now, which the caller closes; -1: errno says why there is none.
int take_output(const std::filesystem::path& path);

}  // namespace tarn::tool
