#include "os/process/processors.h"

#include <sched.h>

#include <bit>
#include <cerrno>

#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

constexpr unsigned kWordBits = 64;
constexpr unsigned kMostProcessors = 1024;
constinit unsigned long processors[kMostProcessors / kWordBits] = {};
constinit long processors_bytes = 0;

}  // namespace

void note_processors() {
  processors_bytes = syscall6(SYS_sched_getaffinity, 0, sizeof processors, to_long(processors));
}

unsigned processor_count() {
  if (processors_bytes <= 0) note_processors();  // a constructor of another library may allocate first
  unsigned count = 0;
  for (const unsigned long word : processors) count += static_cast<unsigned>(std::popcount(word));
  return count;
}

unsigned this_processor() {
  const int error = errno;  // the program's, in a call that must not change it
  const int number = sched_getcpu();
  if (number < 0) {
    errno = error;
    return 0;
  }
  if (processors_bytes <= 0) return static_cast<unsigned>(number);
  const auto processor = static_cast<unsigned>(number) % kMostProcessors;
  const unsigned word = processor / kWordBits;
  unsigned before = 0;
  for (unsigned i = 0; i < word; ++i) before += static_cast<unsigned>(std::popcount(processors[i]));
  return before +
         static_cast<unsigned>(std::popcount(processors[word] & ((1ul << processor % kWordBits) - 1)));
}

}  // namespace tarn::internal::os
