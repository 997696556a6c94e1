#include "misuse/misuse.h"
#include "tarn/handle_pool.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

struct Session {
  long payload[8];
};

// An object that a handle pool has handed over is freed twice.
MISUSE(pool_handle_double_free_after_its_pool) {
  Session* session = nullptr;
  {
    tarn::HandlePool<Session> pool({.name = "sessions", .at_end = tarn::AtPoolEnd::kHandOver});
    session = pool.get(pool.create());
    static_cast<void>(pool.create());
  }
  tarn::deallocate(session);
  must_die_with("double free in 'sessions'", session);
  tarn::deallocate(opaque(session));
}

// An object of a handle pool is freed by its address: its slot would still count it as live.
MISUSE(pool_handle_freed_by_address) {
  tarn::HandlePool<Session> pool({.name = "sessions"});
  Session* const session = pool.get(pool.create());
  must_die_with("free of a pointer that is no block of the pool in 'sessions'", session);
  tarn::deallocate(opaque(session));
}

// at() is given a handle whose object has ended, while its slot has the next object.
MISUSE(pool_handle_stale) {
  tarn::HandlePool<Session> pool({.name = "sessions", .at_end = tarn::AtPoolEnd::kHandOver});
  const tarn::Handle<Session> old = pool.create();
  pool.destroy(old);
  static_cast<void>(pool.create());
  must_die_with("use of a handle whose object has ended in 'sessions'",
                reinterpret_cast<const void*>((std::uintptr_t{old.generation} << 32) | old.slot));
  opaque(pool.at(old).payload[0]);
}

// An object is destroyed twice in a row.
MISUSE(pool_object_double_free) {
  tarn::ObjectPool<Session> pool;
  Session* const session = pool.create();
  must_die_with("double free in 'object pool'", session);
  pool.destroy(opaque(session));
  pool.destroy(opaque(session));
}

// An object is destroyed twice with many others in between; some live on, so that its slab does.
MISUSE(pool_object_double_free_after_others) {
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

// An object pool is given an object of new's.
MISUSE(pool_object_foreign) {
  tarn::ObjectPool<Session> pool({.name = "sessions"});
  pool.destroy(pool.create());
  Session* const session = opaque(new Session);
  must_die_with("free of a pointer that is no block of the pool in 'sessions'", session);
  pool.destroy(session);
}

// An object pool is given an object of another one of the same type.
MISUSE(pool_object_other_pools_object) {
  tarn::ObjectPool<Session> pool({.name = "sessions"}), other;
  pool.destroy(pool.create());
  Session* const session = opaque(other.create());
  must_die_with("free of a block of 'object pool' in 'sessions'", session);
  pool.destroy(session);
}

// An object pool is given an object on the stack.
MISUSE(pool_object_stack_address) {
  tarn::ObjectPool<Session> pool({.name = "sessions"});
  Session session;
  must_die_with("free of a pointer that is no block of the pool in 'sessions'", &session);
  pool.destroy(opaque(&session));
}
