// What a debugger prints: an object of each of tarn's types, and damaged ones. Stops at stop_here().
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tarn/arena.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"
#include "tarn/pools.h"

struct Unit {
  long health = 100;
  long armour = 7;
};
struct Orc {  // as large as a Unit
  long health = 30;
  long clan = 3;
};

extern "C" [[gnu::noinline]] void stop_here() { asm volatile("" ::: "memory"); }

static tarn::SharedBuffer buffer_of(tarn::BufferPool& pool, const std::string& text) {
  tarn::SharedBuffer buffer = pool.allocate_shared(text.size());
  std::memcpy(buffer.data(), text.data(), text.size());
  return buffer;
}

int main() {
  tarn::BufferPool packets("packets");
  tarn::SharedBuffer text = buffer_of(packets, "GET /index HTTP/1.1\r\n");
  tarn::SharedBuffer part = text.slice(4, 6);
  tarn::SharedBuffer binary = buffer_of(packets, std::string("\x01\x02\xff\x00\x10\x80", 6));
  tarn::SharedBuffer none;
  tarn::SharedBuffer large = buffer_of(packets, std::string(100'000, 'l'));
  tarn::BufferPool secrets({.name = "secrets", .sensitive = true});
  tarn::SharedBuffer secret = buffer_of(secrets, "the password");

  tarn::BufferChain chain, longer;
  chain.append(text);
  chain.append(binary);
  for (int i = 0; i < 6; ++i) longer.append(buffer_of(packets, "piece " + std::to_string(i)));
  longer.consume(9);

  tarn::FixedPool records(64, "records");
  void* kept[100];
  for (void*& block : kept) block = records.allocate();
  for (int i = 0; i < 40; ++i) records.deallocate(kept[i]);
  tarn::SharedFixedPool shared_records(128, "shared \x1b[31mrecords");
  std::thread([&] {
    for (int round = 0; round < 2000; ++round) shared_records.deallocate(shared_records.allocate());
    for (int i = 0; i < 5; ++i) kept[i] = shared_records.allocate();
  }).join();

  tarn::ObjectPool<Unit> objects("objects");
  tarn::ObjectPool<Unit, tarn::LiveObjects::kListed> listed("listed");
  Unit* units[3];
  for (Unit*& unit : units) unit = objects.create();
  objects.destroy(units[1]);
  std::thread([&] {
    std::vector<Unit*> many(500);
    for (Unit*& one : many) one = objects.create();
    for (Unit* one : many) objects.destroy(one);
  }).join();
  Unit* const of_list = listed.create();

  tarn::HandlePool<Unit> entities("entities");
  tarn::HandlePool<Orc> orcs("orcs");
  tarn::Handle<Unit> unit = entities.create(), other = entities.create(), ended = entities.create(), null;
  const tarn::Handle<Orc> orc = orcs.create();
  entities.destroy(ended);

  tarn::Heap world("world");
  tarn::Heap room({.name = "room", .hard_limit = 1 << 20, .parent = &world});
  void* const in_room = room.allocate(1000);

  tarn::Arena arena("scratch");
  void* const in_arena = arena.allocate(100);
  tarn::TickArena tick(1 << 16, "tick");

  tarn::HandlerMemory handlers;
  void* first = handlers.allocate(100);
  void* second = handlers.allocate(200);
  handlers.deallocate(first, 100);

  std::optional<tarn::FixedPool> over;
  over.emplace(32, "over");
  tarn::FixedPool* const gone = &*over;
  over.reset();

  const std::vector<char> bytes(1024, 'Z');
  auto& bad_chain = *reinterpret_cast<const tarn::BufferChain*>(bytes.data());
  auto& bad_buffer = *reinterpret_cast<const tarn::SharedBuffer*>(bytes.data());
  auto& bad_handle = *reinterpret_cast<const tarn::Handle<Unit>*>(bytes.data());
  auto& bad_pool = *reinterpret_cast<const tarn::FixedPool*>(bytes.data());
  auto& bad_objects = *reinterpret_cast<const tarn::ObjectPool<Unit>*>(bytes.data());
  auto& bad_entities = *reinterpret_cast<const tarn::HandlePool<Unit>*>(bytes.data());
  auto& bad_packets = *reinterpret_cast<const tarn::BufferPool*>(bytes.data());
  auto& bad_heap = *reinterpret_cast<const tarn::Heap*>(bytes.data());
  auto& bad_arena = *reinterpret_cast<const tarn::Arena*>(bytes.data());
  stop_here();

  handlers.deallocate(second, 200);
  room.deallocate(in_room);
  listed.destroy(of_list);
  objects.destroy(units[0]);
  objects.destroy(units[2]);
  for (const tarn::Handle<Unit> handle : {unit, other}) entities.destroy(handle);
  orcs.destroy(orc);
  for (const void* seen : {static_cast<const void*>(in_arena), static_cast<const void*>(gone),
                           static_cast<const void*>(&null), static_cast<const void*>(&bad_chain),
                           static_cast<const void*>(&bad_buffer), static_cast<const void*>(&bad_handle),
                           static_cast<const void*>(&bad_pool), static_cast<const void*>(&bad_objects),
                           static_cast<const void*>(&bad_entities), static_cast<const void*>(&bad_packets),
                           static_cast<const void*>(&bad_heap), static_cast<const void*>(&bad_arena)})
    asm volatile("" ::"r"(seen));
  std::puts("ended");
}
