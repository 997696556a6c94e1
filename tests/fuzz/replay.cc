// Runs one fuzz target with each file of a folder: the committed corpus, unpacked, without libFuzzer. How to
// look into one and add to it: fuzz.sh.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "fuzz/program.h"

namespace fs = std::filesystem;

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]), 2;
  const std::set<fs::path> files{fs::directory_iterator(arguments[1]), fs::directory_iterator()};
  for (const fs::path& path : files) {
    std::fprintf(stderr, "%s\n", path.filename().c_str());  // the last one is guilty
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    // In a vector of its own size, so that a sanitizer sees who reads behind it.
    const std::vector<std::uint8_t> program(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(program.data(), program.size());
  }
  std::printf("%zu programs\n", files.size());
  return files.empty() ? 1 : 0;
}
