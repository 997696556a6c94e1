// An object is destroyed twice in a row.
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

struct Session {
  long payload[8];
};

int main() {
  tarn::ObjectPool<Session> pool;
  Session* const session = pool.create();
  must_die_with("double free in 'object pool'", session);
  pool.destroy(opaque(session));
  pool.destroy(opaque(session));
}
