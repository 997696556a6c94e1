// What the tests of dump files share: what a dump holds, and damage to it.
#pragma once
#include <string>

#include "observer/memory_file.h"
#include "observer/process/source.h"
#include "observer/source_promises.h"
#include "support/error_of.h"
#include "support/seed.h"

namespace tarn::test {

inline std::string read_text(const observer::Source& source, observer::Address address, std::size_t bytes) {
  std::string text(bytes, '?');
  text.resize(source.read(address, text.data(), bytes));
  return text;
}

/// The content with some bytes changed by chance.
inline std::string forged(std::string content, std::uint64_t seed) {
  Random random(seed);
  for (std::uint64_t flips = random.between(1, 8); flips != 0; --flips)
    content[random.below(content.size())] = static_cast<char>(random.next());
  return content;
}

/// \returns the promise that a damaged file makes the source break.
inline std::string broken_promise_of(MemoryFile& file, const std::string& content) {
  file.write(content);
  if (!file.is_written()) return "the file is written";
  std::string promise;
  error_of<observer::ObserveError>([&] {
    const auto source = observer::open_dump(file.path());
    if (const char* const broken = broken_promise(*source)) promise = broken;
  });
  return promise;
}

}  // namespace tarn::test
