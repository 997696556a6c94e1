// bench_micro_peers: malloc, whoever is preloaded.
#include "malloc_api.h"
#include "micro.h"

namespace tarn::bench {
namespace {

const Contestant general("malloc", Kind::kMalloc, Sharing::kAnyThread, "", {micro::run<Malloc>});

}  // namespace
}  // namespace tarn::bench
