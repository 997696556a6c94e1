#include "os/locks/held_locks.h"

#if defined(TARN_CHECKS_LOCKS)

#include <string_view>
#include <utility>

#include "base/text.h"
#include "os/fatal.h"

namespace tarn::internal::os {
namespace {

using detail::kLockRankCount;

using HeldCounts = std::uint8_t[kLockRankCount];
TARN_DEFINE_THREAD_VARIABLE(HeldCounts, held_counts) = {};
HeldCounts& held_count() { return TARN_OF_THREAD(held_counts); }

constexpr std::size_t index_of(LockRank rank) { return static_cast<std::size_t>(rank); }

bool is_checked_here() { return !is_fork_owner(); }

// The compiler's text has the enumerators' names: "... [with LockRank kRank = ...::kSetUp; ...]".
template <LockRank kRank>
consteval std::string_view name_of() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t end = text.find_first_of(";]", text.find("kRank = "));
  const std::size_t first = text.rfind(':', end) + 1;
  return text.substr(first, end - first);
}

template <std::size_t... kRank>
std::string_view name_in(std::index_sequence<kRank...>, LockRank rank) {
  static constexpr std::string_view kNames[] = {name_of<static_cast<LockRank>(kRank)>()...};
  return kNames[index_of(rank)];
}

Text& add_name(Text& line, LockRank rank) {
  for (const char character : name_in(std::make_index_sequence<kLockRankCount>(), rank)) line.add(character);
  return line;
}

constexpr bool may_be_held_while_giving_back(LockRank rank) {
  for (const LockRank allowed : kHeldWhileGivingBack)
    if (rank == allowed) return true;
  return false;
}

}  // namespace

void check_no_lock_is_held(const char* before_what) {
  if (!is_checked_here()) return;
  for (std::size_t rank = 0; rank < kLockRankCount; ++rank) {
    if (held_count()[rank] == 0 || may_be_held_while_giving_back(static_cast<LockRank>(rank))) continue;
    FixedText<128> line;
    add_name(line, static_cast<LockRank>(rank)).add(" is held ").add(before_what).add('\0');
    fatal(line.data());
  }
}

}  // namespace tarn::internal::os

namespace TARN_NAMESPACE::detail {

using namespace internal;
using namespace internal::os;

void note_lock_wanted(LockRank rank) {
  if (!is_checked_here()) return;
  for (std::size_t held = kLockRankCount; held-- > index_of(rank);) {
    if (held_count()[held] == 0) continue;
    FixedText<128> line;
    add_name(line.add("lock "), rank).add(" is wanted while ");
    add_name(line, static_cast<LockRank>(held)).add(" is held").add('\0');
    fatal(line.data());
  }
}

void note_lock_taken(LockRank rank) {
  if (is_checked_here()) ++held_count()[index_of(rank)];
}

// The lock may be one that another thread took, or that a program took without recording it.
void note_lock_let_go(LockRank rank) {
  if (is_checked_here() && held_count()[index_of(rank)] != 0) --held_count()[index_of(rank)];
}

}  // namespace TARN_NAMESPACE::detail

#endif
