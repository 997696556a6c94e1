// Where a heap profile is written to, and in which form: the ending of a file's name says it.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::tool {

enum class ProfileForm : std::uint8_t { kPprof, kFolded, kSpeedscope, kTimeline, kPage, kJson };

/// Whether what is live is looked at again and again while a profile is on.
enum class OverTime : bool { kNo, kYes };

/// "pprof for .pb.gz, ...": for a help text.
std::string profile_forms_in_words();

/// \throws UsageError for an ending that names no form.
ProfileForm form_of_file(const std::string& file);

/// Opens all files before work begins. \throws UsageError, or when one cannot be written.
void require_profile_files(const std::vector<std::string>& files, OverTime over_time);
/// \throws when a file cannot be written; nothing of it is left then.
void write_profile_files(const profile::NamedProfile& profile, const std::vector<std::string>& files,
                         profile::Measure measure);

}  // namespace tarn::tool
