// An object pool is given an object of another one of the same type.
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

struct Session {
  long payload[8];
};

int main() {
  tarn::ObjectPool<Session> pool({.name = "sessions"}), other;
  pool.destroy(pool.create());
  Session* const session = opaque(other.create());
  must_die_with("free of a block of 'object pool' in 'sessions'", session);
  pool.destroy(session);
}
