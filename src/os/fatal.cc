#include "os/fatal.h"

#include "base/text.h"
#include "os/other_copies.h"

namespace tarn::internal::os {

void write_line(const Text& line) { write_line(line.data(), line.length()); }

namespace {

void end_line(Text& line, const void* address) {
  if (address != nullptr) {
    line.add(": ").add_hex(reinterpret_cast<std::uintptr_t>(address));
    add_other_copy(line, address);
  }
  line.add('\n');
}

[[noreturn]] void stop(Text& line, const void* address, std::size_t block_bytes = 0) {
  end_line(line, address);
  tell_last_line(line);
  tell_who(block_bytes);
  stop_process();
}

Text& start_in_pool(Text& line, const char* pool, const char* what) {
  return line.add("tarn: ").add(what).add(" in '").add(pool).add('\'');
}

}  // namespace

void fatal(const char* what, const void* address, std::size_t block_bytes) {
  FixedText<1024> line;
  line.add("tarn: ").add(what);
  stop(line, address, block_bytes);
}

void fatal_in_pool(const char* pool, const char* what, const void* address, std::size_t block_bytes) {
  FixedText<1024> line;
  stop(start_in_pool(line, pool, what), address, block_bytes);
}

void misuse(const char* what, const void* address, const char* pool, std::size_t block_bytes,
            TellMore tell_more) {
  FixedText<1024> line;
  if (pool == nullptr)
    line.add("tarn: ").add(what);
  else
    start_in_pool(line, pool, what);
  end_line(line, address);
  const bool stops = at_misuse != AtMisuse::kReport;
  stops ? tell_last_line(line) : write_line(line);
  tell_who(block_bytes);
  if (tell_more != nullptr) tell_more(address);
  if (stops) stop_process();
}

}  // namespace tarn::internal::os
