#include "tarn/detail/record_seal.h"

#include <cstring>

#include "os/checker.h"
#include "os/fatal.h"
#include "os/process/process.h"

namespace TARN_NAMESPACE::detail {

using internal::os::folded;
using internal::os::process_secret;

std::uint64_t seal_of(const void* record, std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  const std::uint64_t first = process_secret(0), second = process_secret(1);
  return folded(folded(word_of(record) ^ first, a ^ second) ^ b ^ first, c ^ second) | 1;
}

bool begins_with_sealed_record(void* block) noexcept {
  std::uint64_t words[4];
  internal::os::unpoison(block, sizeof words);
  std::memcpy(words, block, sizeof words);
  return words[3] == seal_of(block, words[0], words[1], words[2]);
}

void stop_at_record(const char* what, const void* record) noexcept { internal::os::fatal(what, record); }

}  // namespace TARN_NAMESPACE::detail
