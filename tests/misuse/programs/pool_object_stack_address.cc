// An object pool is given an object on the stack.
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

struct Session {
  long payload[8];
};

int main() {
  tarn::ObjectPool<Session> pool({.name = "sessions"});
  Session session;
  must_die_with("free of a pointer that is no block of the pool in 'sessions'", &session);
  pool.destroy(opaque(&session));
}
