#include "taken/profile_documents.h"

#include <fmt/format.h>

#include <chrono>

#include "profile/documents/documents.h"
#include "profile/stacks/json.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

struct FileEnding {
  const char* text;
  ProfileForm form;
};
// Longer ones first.
constexpr FileEnding kFileEndings[] = {{".speedscope.json", ProfileForm::kSpeedscope},
                                       {".perfetto.json", ProfileForm::kTimeline},
                                       {".pb.gz", ProfileForm::kPprof},
                                       {".pprof", ProfileForm::kPprof},
                                       {".folded", ProfileForm::kFolded},
                                       {".html", ProfileForm::kPage},
                                       {".json", ProfileForm::kJson}};

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::string document(const profile::NamedProfile& profile, ProfileForm form, profile::Measure measure) {
  switch (form) {
    case ProfileForm::kPprof:
      return profile::pprof_file(profile, now_ns());
    case ProfileForm::kFolded:
      return profile::folded_text(profile, measure);
    case ProfileForm::kSpeedscope:
      return profile::text_of(profile::speedscope_json(profile));
    case ProfileForm::kTimeline:
      return profile::text_of(profile::timeline_json(profile));
    case ProfileForm::kPage:
      return profile::flame_page(profile);
    case ProfileForm::kJson:
      break;
  }
  return profile::text_of(profile::profile_json(profile));
}

}  // namespace

std::string profile_forms_in_words() {
  return ".pb.gz or .pprof (go tool pprof), .folded (flamegraph.pl), .speedscope.json, .perfetto.json (what "
         "is live over the time), .html (a flame graph), .json";
}

ProfileForm form_of_file(const std::string& file) {
  for (const FileEnding& ending : kFileEndings)
    if (file.ends_with(ending.text)) return ending.form;
  throw UsageError(
      fmt::format("\"{}\": its ending names no form; these do: {}", file, profile_forms_in_words()));
}

void require_profile_files(const std::vector<std::string>& files, OverTime over_time) {
  for (const std::string& file : files) {
    if (form_of_file(file) == ProfileForm::kTimeline && over_time == OverTime::kNo)
      throw UsageError(fmt::format("{}: a timeline is for `tarn profile` of a running process", file));
    open_output(file);
  }
}

void write_profile_files(const profile::NamedProfile& profile, const std::vector<std::string>& files,
                         profile::Measure measure) {
  for (const std::string& file : files) write_file(file, document(profile, form_of_file(file), measure));
}

}  // namespace tarn::tool
