#include "pool/freed_runs.h"

#include <algorithm>
#include <new>

#include "page/metadata.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kBytes = (FreedRuns::kNotes + 1) * sizeof(FreedRun);

// A note of a block that is never free.
constinit std::uint64_t no_words[2] = {};
constinit FreedRun never_whole{{no_words, 1}, nullptr};

constexpr detail::FreedRunTops tops_of(FreedRun* only) {
  detail::FreedRunTops tops{};
  for (FreedRun*& top : tops.newest) top = only;
  for (FreedRun*& top : tops.last) top = only;
  return tops;
}

constinit detail::FreedRunTops no_notes = tops_of(&never_whole);

}  // namespace

detail::FreedRunTops& FreedRuns::none() { return no_notes; }

FreedRuns::FreedRuns() : FreedRunTops(no_notes) {}

FreedRun* FreedRuns::below_first(std::size_t length) const {
  return has_memory(length) ? last[length] - kNotes : &never_whole;
}

bool FreedRuns::has_memory(std::size_t length) const { return last[length] != &never_whole; }

const FreedRun* FreedRuns::take_note(std::size_t length) {
  FreedRun* const below = below_first(length);
  while (newest[length] != below) {
    const FreedRun* const note = newest[length]--;
    if (note->is_whole()) return note;
  }
  return nullptr;
}

bool FreedRuns::make_room(std::size_t length) {
  if (!has_memory(length)) {
    auto* const notes = static_cast<FreedRun*>(metadata.allocate(kBytes));
    if (notes == nullptr) return false;
    for (FreedRun* note = notes; note != notes + kNotes + 1; ++note) new (note) FreedRun(never_whole);
    newest[length] = notes;
    last[length] = notes + kNotes;
  } else if (newest[length] == last[length]) {
    FreedRun* const first = below_first(length) + 1;
    newest[length] = std::copy(first + kNotes / 2, last[length] + 1, first) - 1;
  }
  return true;
}

void FreedRuns::note(const FreedRun& run, std::size_t length) {
  if (make_room(length)) *++newest[length] = run;
}

const FreedRun* FreedRuns::place_of(std::size_t length) const {
  const FreedRun* const first = below_first(length) + 1;
  return has_memory(length) && first->blocks != nullptr ? first : nullptr;
}

void FreedRuns::forget() {
  for (std::size_t length = 1; length <= kLongest; ++length) {
    FreedRun* const below = below_first(length);
    newest[length] = below;
    if (has_memory(length)) below[1] = never_whole;  // the place of a run that is no more
  }
}

void FreedRuns::end() {
  for (std::size_t length = 1; length <= kLongest; ++length)
    if (has_memory(length)) metadata.free(below_first(length), kBytes);
  static_cast<FreedRunTops&>(*this) = no_notes;
}

}  // namespace tarn::internal
