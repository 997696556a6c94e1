// An object that a handle pool has handed over is freed twice.
#include "misuse/misuse.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"

struct Session {
  long payload[8];
};

int main() {
  Session* session = nullptr;
  {
    tarn::HandlePool<Session> pool({.name = "sessions", .at_end = tarn::AtPoolEnd::kHandOver});
    session = pool.get(pool.create());
    static_cast<void>(pool.create());
  }
  tarn::deallocate(session);
  must_die_with("double free in 'sessions'", session);
  tarn::deallocate(opaque(session));
}
