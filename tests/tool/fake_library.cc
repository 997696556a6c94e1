// Libraries that the command's tests preload in the place of an allocator. Which one this is, the build says.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

#if defined(FAKE_HARMLESS)
// Does what the contract with `tarn run` asks of the real library when a program ends: a file with its
// figures.
[[gnu::destructor]] void write_statistics() {
  const char* const prefix = std::getenv("TARN_STATS_FILE");
  if (prefix == nullptr) return;
  char path[512];
  std::snprintf(path, sizeof(path), "%s.%d", prefix, static_cast<int>(getpid()));
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  const char* const counted = std::getenv("TARN_COUNT_CALLS");
  std::fprintf(
      file,
      "{\"tarn\":\"0.1.0\",\"pid\":%d,\"size_classes_preset\":\"%s\",\"bytes\":{\"live\":1048576,"
      "\"peak_live\":%s},\"calls\":{\"allocate\":1234567,\"requested_bytes\":900,\"given_bytes\":1000},"
      "\"size_classes\":[{\"block_bytes\":64,\"allocate\":10,\"requested_bytes\":400,\"given_bytes\":640}]}"
      "\n",
      static_cast<int>(getpid()), std::getenv("TARN_CLASSES") ? std::getenv("TARN_CLASSES") : "default",
      counted != nullptr ? "2097152" : "null");
  std::fclose(file);
}
#elif defined(FAKE_CRASHING)
[[gnu::constructor]] void die() {
  std::fputs("fake library: about to die\n", stderr);
  std::raise(SIGSEGV);
}
#elif defined(FAKE_TALKING)
// Fails where the program has closed its output already (echo, cat and their like do), which is fine.
[[gnu::destructor]] void talk() {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, "surplus\n", 8);
}
#endif

}  // namespace
