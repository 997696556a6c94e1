// `tarn metrics`: the memory of a program, or of all of a cgroup, as text for Prometheus, once or over HTTP.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "commands/commands.h"
#include "look/metrics/metrics_of_cgroup.h"
#include "look/metrics/metrics_of_look.h"
#include "look/processes/followed_program.h"
#include "look/processes/observation.h"
#include "look/processes/target.h"
#include "look/several/looks.h"
#include "observer/text/printable.h"
#include "system/files/usage_error.h"
#include "system/servers/http_server.h"

namespace tarn::tool {
namespace {

struct MetricsOptions {
  Target target;
  std::string cgroup;
  std::string address;  // to serve at
};

using Answer = FollowedProgram::Answer;

/// \param look makes an answer, of which the page is
int serve(const MetricsOptions& options, const std::string& whom, const std::function<Answer()>& look,
          const std::function<std::string(const Answer&)>& page) {
  HttpServer server(options.address);
  SignalWatch signals;
  bool was_up = true;
  const auto take = [&] {
    const Answer answer = look();
    if (was_up && !answer.is_up && !signals.wants_end()) fmt::print(stderr, "tarn: {}\n", answer.text);
    was_up = answer.is_up;
    return page(answer);
  };
  take();
  fmt::print("{}/metrics has the memory of {} until Ctrl-C\n", server.url(), whom);
  std::fflush(stdout);
  server.serve({"/metrics", "text/plain; version=0.0.4; charset=utf-8", take}, signals);
  return 0;
}

int serve_program(const MetricsOptions& options) {
  const FollowedProgram program(options.target);
  bool is_first = true;
  const auto look = [&] {
    return std::exchange(is_first, false) ? program.first_look(metrics_of) : program.look(metrics_of);
  };
  return serve(options, options.target.name_or_pid, look, page_of);
}

int serve_cgroup(const MetricsOptions& options) {
  FollowedCgroup cgroup(options.cgroup);
  const auto look = [&] {
    try {
      return Answer{true, page_of_cgroup(cgroup.look(metrics_of))};
    } catch (const observer::ObserveError& error) {
      return Answer{false, observer::printable(error.what())};
    }
  };
  return serve(options, options.cgroup, look,
               [](const Answer& answer) { return answer.is_up ? answer.text : page_of(answer); });
}

int metrics(const MetricsOptions& options) {
  if (!options.cgroup.empty()) {
    fmt::print("{}", page_of_cgroup(FollowedCgroup(options.cgroup).look(metrics_of)));
    return 0;
  }
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  fmt::print("{}", metrics_of(look_at(*source, nullptr)));
  return 0;
}

}  // namespace

void add_metrics_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "metrics", "Print or serve a running program's memory as text for Prometheus.",
                  "tarn metrics PID|NAME|--cgroup PATH|--core FILE [--serve ADDRESS:PORT]",
                  "  tarn metrics game_server\n"
                  "  tarn metrics 4711 > /var/lib/node_exporter/game_server.prom\n"
                  "  tarn metrics game_server --serve :9100    at http://127.0.0.1:9100/metrics\n"
                  "  tarn metrics --cgroup redis.service --serve :9100\n");
  auto options = std::make_shared<MetricsOptions>();
  add_target(command, options->target);
  add_cgroup(command, options->cgroup);
  const AddedOption address =
      add_value(command, "--serve ADDRESS:PORT", options->address,
                "Answer GET /metrics with it until Ctrl-C, also when the program was started anew under its "
                "name; :PORT is of 127.0.0.1");
  on_call(command, invocation, options, [address](MetricsOptions& given) {
    const bool has_target = !given.target.name_or_pid.empty() || !given.target.core_file.empty();
    if (!given.cgroup.empty() && has_target)
      throw UsageError("name what to look at: PID, NAME, --cgroup PATH or --core FILE, one of them");
    if (!address.is_given()) return metrics(given);
    return given.cgroup.empty() ? serve_program(given) : serve_cgroup(given);
  });
}

}  // namespace tarn::tool
