// What the fuzz targets share: a string of bytes read as a program of operations, and a model of the blocks
// that are live.
//
// Each target is LLVMFuzzerTestOneInput: libFuzzer calls it with what it makes up, replay.cc with the
// committed corpus. A program's first bytes choose the options of what is tested, the further ones are its
// operations; all that is live at its end is given back. A broken promise stops the process with a line on
// standard error.
// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "support/content.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tarn::fuzz {

/// Stops the process unless `is_kept`.
void check(bool is_kept, const char* promise);

class Program {
 public:
  /// Written to the file that TARN_FUZZ_LAST names, where it names one: the library's own end of a process
  /// passes libFuzzer by.
  Program(const std::uint8_t* data, std::size_t size);

  bool is_over() const { return at_ == end_; }
  /// The next byte, 0 behind the last.
  unsigned byte() { return is_over() ? 0 : *at_++; }
  bool flag() { return byte() % 2 != 0; }
  /// A number below the bound, of as few bytes as hold all of them.
  std::size_t below(std::size_t bound);
  /// From `least` to `largest`: small ones as often as large ones.
  std::size_t size_between(std::size_t least, std::size_t largest);
  /// The rest of the bytes.
  std::string_view rest();

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

struct Block {
  char* start;
  std::size_t size;  // what may be written
  std::uint64_t pattern;
};

/// Blocks that are live: none overlaps another, and each keeps its contents.
class LiveBlocks {
 public:
  /// A new block. It is filled.
  void add(void* start, std::size_t size);
  /// A block the program chooses, its contents checked; from now on it is not live. \pre there is one.
  Block take(Program& program);
  Block take_last();
  void check_all() const;
  /// All have ended together.
  void forget_all() { blocks_.clear(), starts_.clear(), bytes_ = 0; }

  std::size_t count() const { return blocks_.size(); }
  std::size_t bytes() const { return bytes_; }
  bool is_empty() const { return blocks_.empty(); }
  template <typename Visit>
  void visit(Visit visit) const {
    for (const Block& block : blocks_) visit(block);
  }

 private:
  Block take_at(std::size_t index);

  std::vector<Block> blocks_;
  std::map<const char*, std::size_t> starts_;  // and where each block ends, as its length
  std::size_t bytes_ = 0;
  std::uint64_t patterns_ = 0;
};

/// What the library says of itself holds.
void check_invariants();
/// The same when a program has given back all it had: then all pages are free.
void check_nothing_is_lost();

/// A program that is run, and the blocks it has live.
class Run {
 public:
  explicit Run(Program& program) : program_(program) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Makes all steps, each one of `operations`, and checks what is live then.
  void make_steps(unsigned operations);
  /// The same for a pool, which ends with its blocks live or after their ends, as the program says.
  void run_pool(unsigned operations);

 protected:
  ~Run() = default;
  void give_back_one();
  void give_back_all();

  Program& program_;
  LiveBlocks live_;

 private:
  virtual void step(unsigned operation) = 0;
  virtual void give_back(const Block& block) = 0;
  virtual void end_pool() {}
  virtual void check_counts() const { check_invariants(); }
};

}  // namespace tarn::fuzz
