// at() is given a handle whose object has ended, while its slot has the next object.
#include "misuse/misuse.h"
#include "tarn/handle_pool.h"

struct Session {
  long payload[8];
};

int main() {
  tarn::HandlePool<Session> pool({.name = "sessions", .at_end = tarn::AtPoolEnd::kHandOver});
  const tarn::Handle<Session> old = pool.create();
  pool.destroy(old);
  static_cast<void>(pool.create());
  must_die_with("use of a handle whose object has ended in 'sessions'",
                reinterpret_cast<const void*>((std::uintptr_t{old.generation} << 32) | old.slot));
  return pool.at(old).payload[0] == 0 ? 0 : 1;
}
