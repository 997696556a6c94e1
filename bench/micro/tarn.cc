// bench_micro_tarn: tarn's inlined calls and its pools.
#include "micro.h"
#include "tarn/version.h"
#include "tarn_inline.h"
#include "tarn_pools.h"

namespace tarn::bench {
namespace {

constexpr const char* kLibrary = "tarn " TARN_VERSION_STRING;

const Contestant general("tarn-inline", Kind::kTarnInline, Sharing::kAnyThread, kLibrary,
                         {micro::run<TarnInline>});
const Contestant fixed("tarn-fixed", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                       {micro::run_pool<Fixed>});
const Contestant shared_fixed("tarn-shared", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                              {micro::run_pool<SharedFixed>});
const Contestant objects("tarn-object", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                         {micro::run_pool<Objects>});

}  // namespace
}  // namespace tarn::bench
