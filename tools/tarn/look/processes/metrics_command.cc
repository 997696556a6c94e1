// `tarn metrics`: the series of tarn::write_metrics, from outside.
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "look/processes/metrics_of_look.h"
#include "look/processes/observation.h"
#include "look/processes/target.h"

namespace tarn::tool {
namespace {

int metrics(const Target& target) {
  const std::unique_ptr<observer::Source> source = open_target(target);
  fmt::print("{}", metrics_of(look_at(*source, nullptr)));
  return 0;
}

}  // namespace

void add_metrics_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(app, "metrics", "Print a running program's memory as text for Prometheus.",
                                  "tarn metrics PID|NAME|--core FILE",
                                  "  tarn metrics game_server\n"
                                  "  tarn metrics 4711 > /var/lib/node_exporter/game_server.prom\n");
  auto target = std::make_shared<Target>();
  add_target(*command, *target);
  on_call(*command, invocation, target, metrics);
}

}  // namespace tarn::tool
