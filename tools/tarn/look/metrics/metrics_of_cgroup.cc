#include "look/metrics/metrics_of_cgroup.h"

#include <fmt/format.h>

#include <map>

#include "look/processes/processes.h"
#include "observe/figures/metrics_text.h"
#include "observer/files/kernel_text.h"
#include "observer/text/printable.h"

namespace tarn::tool {
namespace {

namespace core = tarn::internal;

struct Family {
  std::string head, series;
};

std::string labels_of(int pid) {
  std::string program;
  for (const char character : observer::printable(name_of_process(pid))) {
    if (character == '"' || character == '\\') program += '\\';
    program += character;
  }
  return fmt::format("pid=\"{}\",program=\"{}\"", pid, program);
}

/// "name{size="16"} 5" or "name 5" with more labels.
std::string labelled(std::string_view line, const std::string& labels) {
  const std::size_t name_end = std::min(line.find_first_of("{ "), line.size());
  const std::string_view name = line.substr(0, name_end), rest = line.substr(name_end);
  return rest.starts_with('{') ? fmt::format("{}{{{},{}\n", name, labels, rest.substr(1))
                               : fmt::format("{}{{{}}}{}\n", name, labels, rest);
}

void write_memory(const CgroupLook& look, std::string& text) {
  core::TextWriter output([](const char* piece, std::size_t bytes,
                             void* into) { static_cast<std::string*>(into)->append(piece, bytes); },
                          &text);
  core::MetricsWriter writer(output);
  const auto write = [&](const char* name, const std::optional<std::uint64_t>& bytes, const char* help) {
    if (!bytes) return;
    writer.begin("", name, core::MetricKind::kGauge, help);
    writer.series().label("cgroup", look.name().c_str()).value(*bytes);
  };
  write("cgroup_memory_bytes", look.cgroup.memory_bytes, "What the kernel charges to the cgroup.");
  write("cgroup_memory_max_bytes", look.cgroup.memory_max_bytes, "The limit of that.");
}

}  // namespace

std::string page_of(const FollowedProgram::Answer& answer) {
  return fmt::format(
      "# HELP tarn_up Whether the program runs and could be looked at.\n"
      "# TYPE tarn_up gauge\n"
      "tarn_up {}\n{}",
      answer.is_up ? 1 : 0, answer.is_up ? answer.text : fmt::format("# tarn: {}\n", answer.text));
}

std::string joined(const std::vector<LabelledPage>& pages) {
  std::vector<Family> families;
  std::map<std::string, std::size_t, std::less<>> by_name;
  for (const LabelledPage& page : pages) {
    std::string_view rest = page.text, line;
    std::size_t at = SIZE_MAX;  // of the metric whose series come
    while (observer::take_line(rest, line)) {
      if (line.starts_with("# HELP ")) {
        const std::string_view words = line.substr(7);
        at =
            by_name.try_emplace(std::string(words.substr(0, words.find(' '))), families.size()).first->second;
        if (at == families.size()) families.emplace_back();
      }
      if (at >= families.size()) continue;
      if (!line.starts_with('#'))
        families[at].series += labelled(line, page.labels);
      else if (families[at].series.empty())
        families[at].head += fmt::format("{}\n", line);
    }
  }
  std::string text;
  for (const Family& family : families) text += family.head + family.series;
  return text;
}

std::string page_of_cgroup(const CgroupLook& look) {
  std::vector<LabelledPage> pages;
  for (const Looks::Process& process : look.on_tarn)
    pages.push_back({labels_of(process.pid), page_of({true, process.text})});
  for (const int pid : look.failed)
    pages.push_back({labels_of(pid), page_of({false, fmt::format("process {} gave no answer", pid)})});
  std::string text =
      pages.empty() ? page_of({false, "no process that may be looked at runs on tarn"}) : joined(pages);
  if (look.refused != 0) text += fmt::format("# tarn: {} processes could not be looked at\n", look.refused);
  write_memory(look, text);
  return text;
}

}  // namespace tarn::tool
