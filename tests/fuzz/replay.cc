// Runs one fuzz target with each file of a folder: the committed corpus, without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/program.h"

namespace {

// In a vector of its own size, so that a sanitizer sees who reads behind it.
std::vector<std::uint8_t> read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return {bytes.begin(), bytes.end()};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]), 2;
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(arguments[1]), {});
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    std::fprintf(stderr, "%s\n", path.filename().c_str());  // the last one is guilty
    const std::vector<std::uint8_t> program = read(path);
    LLVMFuzzerTestOneInput(program.data(), program.size());
  }
  std::printf("%zu programs\n", files.size());
  return files.empty() ? 1 : 0;
}
