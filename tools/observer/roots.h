// Where a program's pointers begin: all of its memory that is not the heap itself. Data and .bss of every
// module, stacks, thread-local memory, what it has mapped by itself and other allocators, shared memory; and
// the registers of its threads.
//
// The library's own memory is no root, its data as little as its records: what only the library has an
// address of, the program has lost. Words that the program gave the library count.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "snapshot.h"
#include "source.h"

namespace tarn::observer {

class AttachedProcess;

struct AddressRange {
  Address start = 0, end = 0;
  std::uint64_t bytes() const { return end - start; }
};

struct Roots {
  std::vector<AddressRange> ranges;  // sorted, apart
  std::vector<Address> words;        // of registers
  std::uint64_t device_bytes = 0;    // of mapped devices, which are not read: that may do something
};

/// The heap and the library's records, sorted.
std::vector<AddressRange> heap_ranges(const Snapshot& snapshot);

/// Without words. \returns all that the program could write to, or could once, and that is not the heap's.
Roots memory_roots(const Source& source, const Snapshot& snapshot);

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

/// The registers of the threads of a core file.
std::vector<Address> core_file_words(const std::string& path);

}  // namespace tarn::observer
