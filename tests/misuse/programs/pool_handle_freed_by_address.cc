// An object of a handle pool is freed by its address: its slot would still count it as live.
#include "misuse/misuse.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"

struct Session {
  long payload[8];
};

int main() {
  tarn::HandlePool<Session> pool({.name = "sessions"});
  Session* const session = pool.get(pool.create());
  must_die_with("free of a pointer that is no block of the pool in 'sessions'", session);
  tarn::deallocate(opaque(session));
}
