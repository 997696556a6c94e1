// Options that a program brings along, reads, and changes while it runs.
#include "tarn/options.h"

#include <cstdio>
#include <cstring>

#include "tarn/memory_pool.h"

const char* tarn_conf = "decay:500ms,thread_cache:1M";

int main() {
  tarn::deallocate(tarn::allocate(100));  // the library sets itself up
  char text[64];
  tarn::option("thread_cache", text);
  std::printf("thread_cache is %s\n", text);

  const bool is_set = tarn::set_option("decay", "10s") == tarn::OptionResult::kSet;
  tarn::option("decay", text);
  const bool is_read = std::strcmp(text, "10000ms") == 0;
  const bool is_refused = tarn::set_option("decay", "soon") == tarn::OptionResult::kBadValue;

  tarn::for_each_option([](const tarn::OptionState& option) {  // for an admin page
    if (option.may_change) std::printf("%s = %s (%s)\n", option.key, option.value, option.source);
  });
  return is_set && is_read && is_refused ? 0 : 1;
}
