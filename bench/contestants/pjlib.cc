// PJLIB: pj_pool_t, from a caching factory and over a caller's buffer, which it cannot outgrow.
//
// Blocks are aligned to PJ_POOL_ALIGNMENT, which PJLIB configures as 8 bytes on 64-bit machines, else 4; the
// other arenas align to 16. PJLIB wants every thread registered: arenas run in the main thread alone, which
// pj_init registers.
#include <pjlib.h>

#include <cstdlib>

#include "arenas.h"

namespace tarn::bench {
namespace {

// As in the example of PJLIB's documentation, but for the increment: that one, 4000, would cost a call of
// malloc for every thirty blocks.
constexpr pj_size_t kInitialBytes = 4000;
constexpr pj_size_t kIncrementBytes = 64 * 1024;
constexpr pj_size_t kKeptBytes = 1024 * 1024;  // of released pools, in the factory

class Factory {
 public:
  Factory() {
    pj_log_set_level(0);  // it would greet among the results
    if (pj_init() != PJ_SUCCESS) std::abort();
    pj_caching_pool_init(&pools_, nullptr, kKeptBytes);
  }
  ~Factory() {
    pj_caching_pool_destroy(&pools_);
    pj_shutdown();
  }
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;

  pj_pool_t* make_pool() {
    return pj_pool_create(&pools_.factory, "arena", kInitialBytes, kIncrementBytes, nullptr);
  }
  pj_pool_t* make_pool(void* buffer, std::size_t bytes) {
    return pj_pool_create_on_buf("arena", buffer, bytes);
  }

 private:
  pj_caching_pool pools_;
};

/// \why not a static object: PJLIB must not start in the processes of the program's other contestants
Factory& factory() {
  static Factory only;
  return only;
}

class Pool {
 public:
  Pool() : pool_(factory().make_pool()) {}
  Pool(void* buffer, std::size_t bytes) : pool_(factory().make_pool(buffer, bytes)) {}
  ~Pool() { pj_pool_release(pool_); }  // nothing to do over a buffer
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  void* allocate(std::size_t bytes) { return pj_pool_alloc(pool_, bytes); }
  void reset() { pj_pool_reset(pool_); }

 private:
  pj_pool_t* pool_;
};

const Contestant pool("pjlib", Kind::kPool, Sharing::kOneThread, "PJLIB " TARN_PJLIB_VERSION,
                      {arenas::run<Pool>});

}  // namespace
}  // namespace tarn::bench
