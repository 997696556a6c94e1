// What the targets of dump files share: bytes opened as a dump keep the promises of each source.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/program.h"
#include "observer/memory_file.h"
#include "observer/process/source.h"
#include "observer/source_promises.h"

namespace tarn::fuzz {

using OpenDump = std::unique_ptr<observer::Source>(const std::string& path);

inline void read_dump(OpenDump open, const std::uint8_t* data, std::size_t size) {
  static test::MemoryFile file("");
  file.write({reinterpret_cast<const char*>(data), size});
  check(file.is_written(), "the file is written");
  try {
    const auto source = open(file.path());
    const char* const promise = test::broken_promise(*source);
    check(promise == nullptr, promise);
  } catch (const observer::ObserveError& error) {
    check(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
  }
}

}  // namespace tarn::fuzz
