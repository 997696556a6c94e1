// Standard containers by short names: over the general pool, over a heap of their own, over a resource.
#include "tarn/containers.h"

#include <cstdio>

#include "tarn/arena.h"
#include "tarn/heap.h"

int main() {
  tarn::unordered_map<tarn::string, int> words;
  for (const char* word : {"one", "two", "one"}) ++words[word];

  tarn::Heap scores_heap("scores");
  tarn::containers<tarn::Heap>::map<int, double> scores(scores_heap);
  for (int i = 0; i < 1000; ++i) scores[i] = i * 0.5;
  std::printf("the scores take %zu bytes\n", scores_heap.use().live_bytes);

  tarn::Arena request("request");
  tarn::memory_resource on_request(request);
  tarn::pmr::vector<tarn::pmr::string> lines(&on_request);
  lines.emplace_back("a line that is longer than what a string holds in itself");
  return words["one"] == 2 && scores_heap.use().live_bytes >= 1000 * sizeof(double) && request.used() > 0 ? 0
                                                                                                          : 1;
}
