// Runs a command that looks into somebody else's process or files in a process of its own, and watches it.
//
// What such a command reads may never answer: a page of a file on a dead network file system. The kernel
// then holds the command in a call that no signal ends. So this process, which reads nothing, takes signals,
// hands them on, and ends both where a thread of the command waits in vain: half a second after a signal,
// five seconds without one.
//
// The command's memory is bounded too, whatever it reads; that of a program which it starts is not.
// Threads: one, none other runs yet.
#pragma once
#include <functional>

namespace tarn::tool {

/// \returns in the process of the command what work() returns, or throws; in this one its exit status.
/// Where the command ends by a signal, this process does too.
int run_guarded(const std::function<int()>& work);

/// For a child between fork and exec: the command's bound is not one of the program that it runs.
void restore_memory_limit();

}  // namespace tarn::tool
