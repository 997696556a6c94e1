// The processors that the process may use.
// Threads: any; but note_processors() once, when the library is loaded.
#pragma once

namespace tarn::internal::os {

/// Stores the processors of the process.
void note_processors();

/// \returns how many these are; 0 if the system does not tell.
unsigned processor_count();

/// \returns the number, among these from 0 on, of the processor that the calling thread runs on at some
/// moment; the system's number if it does not tell which these are, and 0 if it tells neither. A processor
/// that came later shares its number. Keeps errno. \cost 4 ns; a system call where the
/// kernel offers neither restartable sequences nor a vdso.
unsigned this_processor();

}  // namespace tarn::internal::os
