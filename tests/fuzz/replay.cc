// Runs one fuzz target with each file of an archive of tar's: the committed corpus, without libFuzzer. How to
// look into one and add to it: fuzz.sh.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/program.h"

namespace {

// A header, of which the name and the size in octal are read here, and the file behind it fill whole blocks.
// One of zeros ends the archive.
constexpr std::size_t kBlockBytes = 512, kSizeAt = 124;

std::vector<char> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: %s ARCHIVE\n", arguments[0]), 2;
  const std::vector<char> archive = read(arguments[1]);
  std::size_t programs = 0;
  for (std::size_t at = 0; at < archive.size() && archive[at] != '\0'; ++programs) {
    const char* const header = &archive[at];
    const char* const file = header + kBlockBytes;
    std::fprintf(stderr, "%.100s\n", header);  // the last one is guilty
    const std::size_t bytes = std::strtoul(header + kSizeAt, nullptr, 8);
    if (archive.size() - at < kBlockBytes || archive.size() - at - kBlockBytes < bytes)
      return std::fprintf(stderr, "%s is cut off\n", arguments[1]), 2;
    // In a vector of its own size, so that a sanitizer sees who reads behind it.
    const std::vector<std::uint8_t> program(file, file + bytes);
    LLVMFuzzerTestOneInput(program.data(), program.size());
    at += kBlockBytes + (program.size() + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  }
  std::printf("%zu programs\n", programs);
  return programs == 0 ? 1 : 0;
}
