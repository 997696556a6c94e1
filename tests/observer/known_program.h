// A program with blocks in every kind of pool, all of which are known: what a snapshot of it must say.
// It uses the library of the process it is made in; there it holds all live blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace tarn::test {

class KnownProgram {
 public:
  /// Makes pools and blocks, and frees a part of them, in several threads, one of which goes on.
  explicit KnownProgram(std::uint64_t seed);
  KnownProgram(const KnownProgram&) = delete;
  KnownProgram& operator=(const KnownProgram&) = delete;
  ~KnownProgram();

  /// The live blocks of a pool by its name: "" those of the general pool, large ones too.
  const std::map<std::string, std::set<std::uint64_t>>& live() const { return live_; }
  /// Blocks that were freed and that nobody has now.
  std::set<std::uint64_t> freed() const;

 private:
  struct Pools;
  class Resident;

  void allocate_general(std::uint64_t seed);
  void free_by_another_thread();
  void fill_depots();
  void use_fixed_pools();
  void use_typed_pools();
  void use_buffers();
  void use_heaps(std::uint64_t seed);

  void note(const char* pool, const void* block) {
    live_[pool].insert(reinterpret_cast<std::uint64_t>(block));
    freed_.erase(reinterpret_cast<std::uint64_t>(block));
  }
  void forget(const char* pool, const void* block) {
    live_[pool].erase(reinterpret_cast<std::uint64_t>(block));
    freed_.insert(reinterpret_cast<std::uint64_t>(block));
  }

  std::map<std::string, std::set<std::uint64_t>> live_;
  std::set<std::uint64_t> freed_;
  std::unique_ptr<Pools> pools_;
  std::unique_ptr<Resident> resident_;
};

}  // namespace tarn::test
