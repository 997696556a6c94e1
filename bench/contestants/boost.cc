// Boost.Pool: pool and singleton_pool with unordered frees; object_pool and the ordered calls, where a free
// is O(N).
#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/pool/singleton_pool.hpp>
#include <boost/version.hpp>
#include <mutex>
#include <type_traits>

#include "all_workloads.h"

namespace tarn::bench {
namespace {

static_assert(std::is_same_v<boost::details::pool::default_mutex, std::mutex>,
              "singleton_pool would not lock");

template <std::size_t Bytes>
class Pool {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t) { return pool_.malloc(); }
  void deallocate(void* block, std::size_t) { pool_.free(block); }

 private:
  boost::pool<> pool_{Bytes};
};

struct SingletonTag {};

template <std::size_t Bytes>
class SingletonPool {
 public:
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  SingletonPool() = default;
  ~SingletonPool() { Singleton::purge_memory(); }
  void* allocate(std::size_t) { return Singleton::malloc(); }
  void deallocate(void* block, std::size_t) { Singleton::free(block); }

 private:
  using Singleton = boost::singleton_pool<SingletonTag, Bytes>;
};

template <std::size_t Bytes>
class ObjectPool {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t) { return pool_.construct(); }
  void deallocate(void* block, std::size_t) { pool_.destroy(static_cast<Node*>(block)); }

 private:
  struct Node {
    Node() {}
    char bytes[Bytes];
  };
  boost::object_pool<Node> pool_;
};

class OrderedPool {
 public:
  void* allocate_run(std::size_t count) { return pool_.ordered_malloc(count); }
  void deallocate_run(void* run, std::size_t count) { pool_.ordered_free(run, count); }

 private:
  boost::pool<> pool_{contiguous::kBlockBytes};
};

constexpr std::size_t kMostNodesOfObjectPool = 1000;

constexpr const char* kLibrary = "Boost.Pool " BOOST_LIB_VERSION;

const UnsharedContestant<Pool> pool("boost-pool", Kind::kPool, kLibrary);
const SharedContestant<SingletonPool> singleton_pool("boost-singleton", Kind::kPool, kLibrary);
const Contestant object_pool("boost-object", Kind::kPool, Sharing::kOneThread, kLibrary,
                             {source_004::run_all_batches<ObjectPool, kMostNodesOfObjectPool>});
const Contestant ordered_pool("boost-ordered", Kind::kPool, Sharing::kOneThread, kLibrary,
                              {contiguous::run<OrderedPool>});

}  // namespace
}  // namespace tarn::bench
