// One thread's steps, carried out.
#pragma once
#include "trace/player/crew.h"

namespace tarn::trace::player {

enum class Checks : std::uint8_t { kNone, kContents };

/// \post ends the program with a line if a block is not what it must be
void work(Crew& crew, std::uint32_t thread, Checks checks);

/// The contents of all blocks that are still live. \pre no thread works any more
void check_live_blocks(Crew& crew);

/// What a thread's samples of calls need; before work begins.
void prepare_latencies(Crew& crew, std::uint32_t thread);

}  // namespace tarn::trace::player
