// `tarn metrics`: a program's memory as text for Prometheus, once or over HTTP.
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "look/metrics/metrics_of_look.h"
#include "look/processes/followed_program.h"
#include "look/processes/observation.h"
#include "look/processes/target.h"
#include "system/servers/http_server.h"

namespace tarn::tool {
namespace {

struct MetricsOptions {
  Target target;
  std::string address;  // to serve at
};

/// What Prometheus gets while the program runs, and while there is none to look at.
std::string page_of(const FollowedProgram::Answer& answer) {
  return fmt::format(
      "# HELP tarn_up Whether the program runs and could be looked at.\n"
      "# TYPE tarn_up gauge\n"
      "tarn_up {}\n{}",
      answer.is_up ? 1 : 0, answer.is_up ? answer.text : fmt::format("# tarn: {}\n", answer.text));
}

int serve(const MetricsOptions& options) {
  const FollowedProgram program(options.target);
  HttpServer server(options.address);
  SignalWatch signals;
  bool was_up = true;
  const auto take = [&](const FollowedProgram::Answer& answer) {
    if (was_up && !answer.is_up && !signals.wants_end()) fmt::print(stderr, "tarn: {}\n", answer.text);
    was_up = answer.is_up;
    return page_of(answer);
  };
  take(program.first_look(metrics_of));
  fmt::print("{}/metrics has the memory of {} until Ctrl-C\n", server.url(), options.target.name_or_pid);
  std::fflush(stdout);
  server.serve({"/metrics", "text/plain; version=0.0.4; charset=utf-8",
                [&] { return take(program.look(metrics_of)); }},
               signals);
  return 0;
}

int metrics(const MetricsOptions& options) {
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  fmt::print("{}", metrics_of(look_at(*source, nullptr)));
  return 0;
}

}  // namespace

void add_metrics_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "metrics", "Print or serve a running program's memory as text for Prometheus.",
                  "tarn metrics PID|NAME|--core FILE [--serve ADDRESS:PORT]",
                  "  tarn metrics game_server\n"
                  "  tarn metrics 4711 > /var/lib/node_exporter/game_server.prom\n"
                  "  tarn metrics game_server --serve :9100    at http://127.0.0.1:9100/metrics\n");
  auto options = std::make_shared<MetricsOptions>();
  add_target(command, options->target);
  const AddedOption address =
      add_value(command, "--serve ADDRESS:PORT", options->address,
                "Answer GET /metrics with it until Ctrl-C, also when the program was started anew under its "
                "name; :PORT is of 127.0.0.1");
  on_call(command, invocation, options,
          [address](MetricsOptions& given) { return address.is_given() ? serve(given) : metrics(given); });
}

}  // namespace tarn::tool
