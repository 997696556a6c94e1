// A copy of the parts of a program's memory that hold the library's records: some large reads in place of one
// for each record. All of it is of about one moment.
//
// Threads: view() of ranges that were loaded from any; else one.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "observer/source.h"

namespace tarn::observer {

class Image {
 public:
  explicit Image(const Source& source) : source_(source) {}

  /// Copies a range, as far as memory is there. \pre it overlaps none that was loaded before.
  void load(Address start, std::uint64_t bytes);

  /// \returns a copy of `bytes` from an address on, which lives as long as the image; nullptr where memory is
  /// not there, or what was asked for exceeds what records can take. What was not loaded is read now.
  const std::byte* view(Address address, std::uint64_t bytes);

  /// The number of calls that read, and their bytes.
  std::uint64_t reads() const { return reads_; }
  std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  struct Piece {
    Address start;
    std::uint64_t bytes;
    std::unique_ptr<std::byte[]> copy;
  };
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{64} << 20;

  Piece read(Address start, std::uint64_t bytes);
  const std::byte* find(Address address, std::uint64_t bytes) const;

  const Source& source_;
  std::vector<Piece> pieces_;  // by address
  std::deque<Piece> others_;   // that were read for one view
  std::uint64_t reads_ = 0, read_bytes_ = 0;
};

}  // namespace tarn::observer
