// The groups of rows, one function each; main.cc names them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "session.h"

namespace tarn::bench {

void run_000_single(Session& session);
void run_000_multi(Session& session);
void run_000_stress_single(Session& session);
void run_000_stress_multi(Session& session);
void run_000_mixed(Session& session);
void run_001(Session& session, std::uint32_t largest_bytes);
void run_002_fixed(Session& session);
void run_002_mixed(Session& session);
void run_004_batches(Session& session);
void run_cross_thread(Session& session);
void run_server_mix(Session& session);
void run_cold_touch(Session& session);
void run_large_loop(Session& session);
void run_boundary(Session& session);

}  // namespace tarn::bench
