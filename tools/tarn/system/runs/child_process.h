// The steps around a child process that the runner is made of: start it, end what it left behind.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include <string>
#include <vector>

#include "observer/files/descriptor.h"
#include "system/runs/runner.h"

namespace tarn::tool {

/// Asked for each output pipe: large, so that the tool need not wake up often.
inline constexpr int kOutputPipeBytes = 1 << 20;

using observer::Descriptor;

/// What had been used when the program's own life began.
struct StartReport {
  timespec clock;
  rusage usage;
};

struct StartedChild {
  pid_t pid = 0;
  int exec_error = 0;  // 0: the program runs
  StartReport start = {};
  Descriptor output;  // captured only; both do not block
  Descriptor errors;
};

/// The words as the kernel takes them, with nullptr behind the last. \pre they live as long
std::vector<char*> pointers_to(const std::vector<std::string>& words);

/// \post the child is past exec, or has failed there and must still be waited for
StartedChild start_child(const RunRequest& request, const SignalWatch& signals);

/// Kills every process that the tool has as a child, adopted ones included.
void end_descendants();

Measurement cost_between(const StartReport& start, const timespec& end, const rusage& usage);

}  // namespace tarn::tool
