// In a build without NDEBUG: an object is destroyed twice, with another in between; its destructor does not
// run a second time.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

struct Session {
  bool has_ended = false;
  ~Session() {
    if (has_ended) abort();
    has_ended = true;
  }
};

int main() {
  tarn::ObjectPool<Session> pool;
  Session* const session = pool.create();
  Session* const other = pool.create();
  must_die_with("double free in 'object pool'", session);
  pool.destroy(opaque(session));
  pool.destroy(opaque(other));
  pool.destroy(opaque(session));
  abort();
}
