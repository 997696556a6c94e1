// A copy of the parts of a program's memory that hold the library's records: some large reads in place of one
// for each record. All of it is of about one moment.
//
// Threads: one.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "observer/process/source.h"
#include "observer/records/bounds.h"
#include "observer/records/bytes.h"

namespace tarn::observer {

class Image {
 public:
  Image(const Source& source, Bounds& bounds) : source_(source), bounds_(bounds) {}

  /// Copies a range, as far as memory is there. Of ranges that overlap, each view is of either.
  void load(Address start, std::uint64_t bytes);

  /// \returns a copy of `bytes` from an address on, which is valid as long as the image; none where memory is
  /// not there. What was not loaded is read now, with the pages around it.
  Bytes view(Address address, std::uint64_t bytes);

 private:
  struct Piece {
    Address start = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<std::byte[]> copy;

    Bytes part(Address address, std::uint64_t count) const {
      const std::uint64_t offset = address - start;
      return offset <= bytes && count <= bytes - offset ? Bytes(copy.get() + offset, count) : Bytes();
    }
  };
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kSmallBytes = 64 * 1024;

  std::uint64_t mapped_bytes(Address start, std::uint64_t bytes) const;
  Piece read(Address start, std::uint64_t bytes);
  Bytes find(Address address, std::uint64_t bytes) const;
  Bytes keep(Piece piece, Address address, std::uint64_t bytes);

  const Source& source_;
  Bounds& bounds_;
  std::vector<Piece> pieces_;                          // by address
  std::deque<Piece> others_;                           // that were read for one view
  std::unordered_map<Address, const Piece*> by_page_;  // of the others, the last that begins there
};

}  // namespace tarn::observer
