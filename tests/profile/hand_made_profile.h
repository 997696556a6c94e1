// Heap profiles made by hand. Their addresses lie in no module, so that an address is its own name.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "profile/stacks/named_profile.h"

namespace tarn::profile::test {

inline ProfileStack make_stack(std::vector<std::uint64_t> addresses, double live_blocks, double live_bytes,
                               std::string pool = "") {
  ProfileStack stack;
  stack.addresses = std::move(addresses);
  stack.pool = std::move(pool);
  stack.samples = 2;
  stack.live_samples = 1;
  stack.allocated_blocks = 2 * live_blocks;
  stack.allocated_bytes = 2 * live_bytes;
  stack.live_blocks = live_blocks;
  stack.live_bytes = live_bytes;
  stack.live_squares = live_bytes * live_bytes;
  return stack;
}

inline HeapProfile make_profile(std::vector<ProfileStack> stacks) {
  HeapProfile profile;
  profile.interval_bytes = 1;
  profile.program = "server";
  profile.pid = 4711;
  profile.seconds = 2;
  profile.stacks = std::move(stacks);
  return profile;
}

inline NamedProfile named(HeapProfile profile) { return NamedProfile(std::move(profile), places_of_core()); }

inline NamedProfile named(std::vector<ProfileStack> stacks) { return named(make_profile(std::move(stacks))); }

/// A program with live memory of one site.
inline HeapProfile make_profile_of(std::string program, std::string site) {
  HeapProfile profile = make_profile({make_stack({0x1}, 1, 64, std::move(site))});
  profile.program = std::move(program);
  return profile;
}

/// Live memory of three sites, one of them in a pool, and older memory.
inline HeapProfile make_mixed_profile() {
  HeapProfile profile = make_profile({make_stack({0x101, 0x201}, 4, 4096), make_stack({0x102, 0x201}, 1, 512),
                                      make_stack({0x103, 0x201}, 3, 48, "fixed pool 3 \"packets;\"")});
  profile.older_blocks = 10;
  profile.older_bytes = 1000;
  return profile;
}

/// Two sites, of which the second grows from nothing, as eight looks saw it.
inline HeapProfile make_profile_with_looks() {
  HeapProfile profile = make_profile({make_stack({1}, 1, 800), make_stack({2}, 2, 7'000)});
  profile.stacks[0].number = 5;
  profile.stacks[1].number = 7;
  // A stack that the profile has no more is told with other sites.
  for (int look = 0; look < 8; ++look)
    profile.looks.push_back(
        {look * 0.5, look < 4 ? 300.0 : 0.0, 0, {{5, 800}, {7, look * 1'000.0}, {9, 50}}});
  return profile;
}

}  // namespace tarn::profile::test
