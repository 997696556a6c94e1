// In a build without NDEBUG: an object of a sensitive pool is destroyed twice; its destructor does not run a
// second time.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/object_pool.h"

static int destroyed = 0;

struct Key {
  char bytes[32];
  ~Key() {
    if (++destroyed == 3) abort();
  }
};

int main() {
  tarn::ObjectPool<Key> pool({.name = "keys", .sensitive = true});
  Key* const key = pool.create();
  Key* const other = pool.create();
  must_die_with("double free in 'keys'", key);
  pool.destroy(opaque(key));
  pool.destroy(opaque(other));
  pool.destroy(opaque(key));
  abort();
}
