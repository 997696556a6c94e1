// What the command lines of server and bots have in common: examples under --help, and one line for whatever
// is wrong.
#pragma once
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>

namespace game {

inline constexpr int kFailureStatus = 1;
inline constexpr int kUsageStatus = 2;

/// Parses, then runs. \returns the exit status: 0, 1 when `run` fails, 2 for a wrong command line.
template <typename Run>
int parse_and_run(CLI::App& app, int argc, char** argv, const char* name, Run run) {
  app.get_formatter()->column_width(34);
  app.set_help_flag("-h,--help", "Print this");
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}: {}; see {} --help\n", name, error.what(), name);
    return kUsageStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kFailureStatus;
  }
}

}  // namespace game
