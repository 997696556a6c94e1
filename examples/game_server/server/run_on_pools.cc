// The server on one memory policy; a file of its own, so that the three are compiled apart.
#include "memory/pools_memory.h"
#include "server.h"

namespace game {

void run_on_pools(const ServerOptions& options) { Server<PoolsMemory>(options).run(); }

}  // namespace game
