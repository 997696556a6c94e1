#include "engine/contenders/session.h"

#include <unistd.h>

namespace tarn::tool {

Session::Session(Telling telling)
    : progress_(telling == Telling::kQuiet ? ProgressStyle::kNone : progress_style_for(STDERR_FILENO)) {
  adopt_orphans();
}

RunResult Session::run(RunRequest request, const Allocator& allocator, const Environment& environment) {
  request.environment = environment_on(allocator, environment).entries();
  request.on_tick = [this] { progress_.tick(); };
  return run_program(request, signals_);
}

ServerResult Session::run_server(ServerRequest request, const Allocator& allocator,
                                 const Environment& environment) {
  request.server.environment = environment_on(allocator, environment).entries();
  request.server.on_tick = [this] { progress_.tick(); };
  return tool::run_server(request, signals_);
}

}  // namespace tarn::tool
