// An object is destroyed twice with many others in between; some live on, so that its slab does.
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

struct Session {
  long payload[8];
};

int main() {
  constexpr int kCount = 20000;
  static Session* sessions[kCount];
  tarn::ObjectPool<Session> pool;
  for (Session*& session : sessions) session = pool.create();
  must_die_with("double free in 'object pool'", sessions[7]);
  for (int i = 0; i < kCount; ++i)
    if (i % 8 != 0) pool.destroy(opaque(sessions[i]));
  pool.destroy(opaque(sessions[7]));
  pool.release_unused();
}
