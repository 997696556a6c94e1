// What the registers of a program's threads hold: of threads in system calls (/proc/PID/task/TID/syscall), of
// stopped threads (ptrace).
#pragma once
#include <functional>
#include <vector>

#include "observer/process/attached_process.h"

namespace tarn::observer {

/// Of each thread that waits in the kernel, the arguments of its call. \returns nothing where the kernel does
/// not tell. The program is not stopped.
std::vector<Address> call_words(const AttachedProcess& process);

/// Appends the registers of a thread that the caller traces and has stopped.
void append_registers(int thread, std::vector<Address>& words);

struct StoppedThreads {
  std::vector<Address> words;  // of all their registers
  unsigned unseen = 0;         // threads that did not stop in time
};
/// Stops each thread for some microseconds to read its registers.
/// \throws ObserveError when another program, such as a debugger, traces it.
StoppedThreads stopped_thread_words(const AttachedProcess& process);

/// Calls use() while all threads of a process are stopped. \throws ObserveError as above, or when a thread
/// does not stop in time; then use() was not called.
void while_stopped(const AttachedProcess& process, const std::function<void()>& use);

}  // namespace tarn::observer
