// Stands for the reader's own program in the commands of the pages: it allocates, keeps half, loses some, and
// ends after 1.5 s; at once with --selftest, never with --forever.
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::vector<char*>& kept() {
  static auto* const blocks = new std::vector<char*>;
  return *blocks;
}

[[gnu::noinline]] void lose_one() { [[maybe_unused]] char* volatile lost = new char[32]; }

[[gnu::noinline]] void serve() {
  for (std::size_t bytes = 16; bytes < 4000; bytes += 48) {
    kept().push_back(new char[bytes]);
    delete[] new char[bytes];
  }
  lose_one();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const int rounds = word == "--selftest" ? 1 : 75;
  for (int i = 0; i < rounds || word == "--forever"; ++i) {
    if (i < 1000) serve();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (char* const block : kept()) delete[] block;
  kept().clear();
  kept().shrink_to_fit();
}
