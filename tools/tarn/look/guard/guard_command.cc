// `tarn guard`: guards for a sample of a running program's blocks, switched on and off from outside.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands/commands.h"
#include "look/processes/target.h"
#include "observer/watch/guarding.h"
#include "report/results.h"
#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

struct GuardOptions {
  Target target;
  std::optional<int> one_in;
  bool is_off = false, as_json = false;
};

constexpr const char* kGuardExamples =
    "  tarn guard game_server --one-in 5000          from now on, until it ends or --off\n"
    "  tarn guard 4711                               how many of its blocks are guarded\n"
    "  tarn guard 4711 --off                         no more; blocks that are guarded stay so\n"
    "  TARN_GUARD=5000 ./game_server                 the same from its start\n"
    "\n"
    "A write past a guarded block, or a use of one that was freed, ends the program there; it prints a line\n"
    "and the stacks of the fault, the free and the allocation. Where blocks come and go fast, fewer are\n"
    "guarded than asked for: it takes 0.4 % of the time at most. Up to 100: whatever it costs.";

/// A program that sleeps notices nothing.
observer::Guarding read_once_noticed(const observer::GuardWords& words) {
  constexpr double kPatience = 1;  // seconds
  const timespec began = now();
  observer::Guarding guarding = words.read();
  for (; !guarding.is_noticed && seconds_since(began) < kPatience; guarding = words.read()) usleep(10'000);
  return guarding;
}

std::string text_of_guarding(const observer::Source& source, const observer::Guarding& guarding) {
  const std::string what = guarding.one_in == 0
                               ? "no new guards"
                               : fmt::format("one block in {} gets a guard", format_count(guarding.one_in));
  return fmt::format("{}: {}; {} guarded now, {} since it began\n", source.program(), what,
                     format_count(guarding.live), format_count(guarding.made));
}

int guard_program(const GuardOptions& options) {
  constexpr int kMost = 1'000'000'000;
  if (options.one_in) require_range("--one-in", *options.one_in, 1, kMost);
  const bool switches = options.one_in || options.is_off;
  const std::unique_ptr<observer::Source> source =
      switches ? open_target_to_switch(options.target) : open_target(options.target);
  if (switches && source->kind() != observer::SourceKind::kProcess)
    throw UsageError("a core file cannot be switched: leave --one-in and --off out");
  const observer::GuardWords words(*source);
  if (switches) words.set(static_cast<std::uint32_t>(options.one_in.value_or(0)));
  const observer::Guarding guarding = switches ? read_once_noticed(words) : words.read();
  if (options.as_json) {
    print_document(text_of(observer::document_json("tarn guard", 1, words.library(),
                                                   {{"one_in", guarding.one_in},
                                                    {"live", guarding.live},
                                                    {"made", guarding.made},
                                                    {"is_noticed", guarding.is_noticed}})));
  } else {
    fmt::print("{}", text_of_guarding(*source, guarding));
  }
  if (switches && !guarding.is_noticed)
    fmt::print(stderr, "tarn: it begins with the program's next call to the allocator's slow path\n");
  return 0;
}

}  // namespace

void add_guard_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "guard", "Put guards behind a sample of a running program's blocks.",
                                  "tarn guard PID|NAME [OPTIONS]", kGuardExamples);
  auto options = std::make_shared<GuardOptions>();
  add_target(command, options->target);
  const AddedOption one_in =
      add_value(command, "--one-in N", options->one_in, "Guard one block in N, on average, from now on");
  add_flag(command, "--off", options->is_off, "Guard no more blocks").excludes(one_in);
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, guard_program);
}

}  // namespace tarn::tool
