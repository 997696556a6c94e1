// Blocks of many sizes, of which few to many are live: packets, messages, temporary strings. With few live
// blocks most size classes are empty most of the time, and an allocator that ends what is empty makes it anew
// with each block.
#pragma once
#include "replacement.h"

namespace tarn::bench::replace {

inline constexpr double kRowSeconds = 0.04;
inline constexpr std::size_t kMostLiveBytes = std::size_t{512} << 20;  // of a row; larger ones are left out

template <class Api>
void run(Session& session) {
  if (!session.enter("replace")) return;
  for (const std::size_t threads : session.threads({1, 8})) {
    for (const std::size_t live : session.values({1, 64, 1000, 20'000})) {
      for (const std::size_t largest : session.sizes({600, 4000, 20'000, 60'000})) {
        if (threads * live * largest / 2 > kMostLiveBytes) continue;
        const Row row = {
            .series = series("%zu live", live), .bytes = largest, .threads = static_cast<unsigned>(threads)};
        report_replacements<Api>(session, row, {live, largest}, kRowSeconds);
      }
    }
  }
}

}  // namespace tarn::bench::replace
