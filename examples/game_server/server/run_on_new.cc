// The server on one memory policy; a file of its own, so that the three are compiled apart.
#include "memory/new_memory.h"
#include "server.h"

namespace game {

void run_on_new(const ServerOptions& options) { Server<NewMemory>(options).run(); }

}  // namespace game
