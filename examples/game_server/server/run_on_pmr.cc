// The server on one memory policy; a file of its own, so that the three are compiled apart.
#include "memory/pmr_memory.h"
#include "server.h"

namespace game {

void run_on_pmr(const ServerOptions& options) { Server<PmrMemory>(options).run(); }

}  // namespace game
