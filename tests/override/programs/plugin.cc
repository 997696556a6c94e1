// A library that is loaded and unloaded again and again: it allocates when it comes, uses thread_local
// storage with a destructor, and frees when it goes.
#include <map>
#include <string>

namespace {

struct Kept {
  std::map<int, std::string> words;
  Kept() {
    for (int i = 0; i < 200; ++i) words[i] = std::string(static_cast<std::size_t>(i), 'x');
  }
};
Kept kept;
thread_local std::string per_thread(300, 'y');

}  // namespace

extern "C" std::size_t plugin_work() {
  per_thread += kept.words[100];
  return per_thread.size() + kept.words.size();
}
