// The secret is a product of the random bytes that the kernel gives each process, so that no other use of
// them tells it.
#include "tarn/detail/record_seal.h"

#include <sys/auxv.h>

#include <atomic>
#include <cstring>

#include "os/fatal.h"

namespace TARN_NAMESPACE::detail {
namespace {

// Both halves of a product, so that nothing leads back from it.
std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kOdd[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
constinit std::atomic<std::uint64_t> secrets[2]{};

// Every thread that finds none makes the same.
std::uint64_t secret(unsigned number) {
  const std::uint64_t known = secrets[number].load(std::memory_order_relaxed);
  if (known != 0) [[likely]]
    return known;
  std::uint64_t random[2] = {word_of(secrets), word_of(&known)};
  if (const auto* const bytes = reinterpret_cast<const void*>(getauxval(AT_RANDOM)); bytes != nullptr)
    std::memcpy(random, bytes, sizeof random);
  const std::uint64_t made = folded(random[0] ^ kOdd[number], random[1] ^ kOdd[1 - number]) | 1;
  secrets[number].store(made, std::memory_order_relaxed);
  return made;
}

}  // namespace

std::uint64_t seal_of(const void* record, std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  const std::uint64_t first = secret(0), second = secret(1);
  return folded(folded(word_of(record) ^ first, a ^ second) ^ b ^ first, c ^ second) | 1;
}

void stop_at_record(const char* what, const void* record) noexcept { internal::os::fatal(what, record); }

}  // namespace TARN_NAMESPACE::detail
