#include "observer/watch/guarding.h"

#include <fmt/format.h>

#include "observer/process/attached_process.h"
#include "observer/records/bytes.h"
#include "observer/records/locate.h"
#include "observer/watch/watch_beat.h"

namespace tarn::observer {

GuardWords::GuardWords(const Source& source)
    : source_(source), layout_(layout_with(source, "guards.one_in", "guards no blocks")) {}

std::uint64_t GuardWords::number(std::string_view root, std::string_view field) const {
  return read_number(source_, layout_.root(root), layout_.field(field)).value_or(0);
}

Guarding GuardWords::read() const {
  Guarding guarding;
  guarding.one_in = number("guard_turns", "guards.one_in");
  guarding.live = number("guarded_blocks", "guards.live");
  guarding.made = number("guarded_blocks", "guards.made");
  guarding.is_noticed = number("observation", "observation.rung_for") == number("watch", "watch.generation");
  return guarding;
}

void GuardWords::set(std::uint32_t one_in) const {
  AttachedProcess& process = running_process(source_);
  if (number("thread_limits", "thread_limits.always_slow") != 0)
    throw ObserveError(
        fmt::format("{} runs with the option check, count_calls or pools_use_malloc, and then no block is "
                    "guarded: start it "
                    "without",
                    source_.program()));
  const std::uint64_t no_rest = 0;
  const auto write = [&](std::string_view field, const void* word, std::size_t bytes) {
    process.write(layout_.root("guard_turns") + layout_.field(field).offset, word, bytes);
  };
  write("guards.one_in", &one_in, sizeof one_in);
  write("guards.rests_until", &no_rest, sizeof no_rest);
  count_switch(process, layout_);
}

}  // namespace tarn::observer
