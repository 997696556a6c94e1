// Sessions made by one thread and ended by another.
#include "tarn/object_pool.h"

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tarn/pool_pointers.h"

struct Session {
  Session(int number, std::string user) : id(number), name(std::move(user)) {}
  int id;
  std::string name;
};

int main() {
  tarn::ObjectPool<Session> sessions({.name = "sessions", .at_end = tarn::AtPoolEnd::kDestroy});
  sessions.prewarm(100);

  std::vector<Session*> open;
  for (int i = 0; i < 1000; ++i) open.push_back(sessions.create(i, "user " + std::to_string(i)));

  std::thread([&] {
    for (int i = 0; i < 500; ++i) sessions.destroy(open[static_cast<std::size_t>(i)]);
  }).join();
  std::printf("%zu sessions are open\n", sessions.live_count());

  // Owners of the usual kinds.
  const auto unique = sessions.make_unique(1000, "unique");
  const auto shared = sessions.make_shared(1001, "shared");
  return sessions.live_count() == 502 ? 0 : 1;
}  // the pool ends last of the three and destroys the other 500
