// Reads many small ranges of an observed program in few calls: ranges that lie close together are read as one
// piece. Dense slabs are so read whole, sparse ones by their blocks.
//
// Threads: one; the source may be shared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "observer/process/source.h"

namespace tarn::observer {

/// Calls visit(word) for each address that a range may hold, which is aligned.
template <typename Visit>
void for_each_word(const std::byte* content, std::size_t bytes, Visit visit) {
  for (std::size_t at = 0; at + sizeof(Address) <= bytes; at += sizeof(Address)) {
    Address word;
    std::memcpy(&word, content + at, sizeof word);
    visit(word);
  }
}

/// use(tag, content, bytes) is called for each wanted range, in the order in which they were wanted, once it
/// has been read; for each part of it where it has holes, and with 0 bytes where nothing could be read.
template <typename Tag, typename Use>
class JoinedReader {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  JoinedReader(const Source& source, Use use) : source_(source), use_(use) {}

  /// \pre bytes <= kPieceBytes. \cost least when addresses ascend
  void want(Address address, std::size_t bytes, Tag tag) {
    if (!joins(address, bytes)) flush();
    if (wanted_.empty()) start_ = end_ = address;
    wanted_.push_back({address, bytes, tag});
    if (address + bytes > end_) end_ = address + bytes;
  }
  /// Reads what is wanted and has not been read.
  void flush();

  std::uint64_t unread_bytes() const { return unread_bytes_; }
  std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  /// To read a gap of a page costs about what a call costs.
  static constexpr std::size_t kGapBytes = 4096;
  static constexpr std::size_t kPageBytes = 4096;

  struct Wanted {
    Address address;
    std::size_t bytes;
    Tag tag;
  };
  bool joins(Address address, std::size_t bytes) const {
    return !wanted_.empty() && address >= start_ && address <= end_ + kGapBytes &&
           address + bytes - start_ <= kPieceBytes;
  }
  void use_alone(const Wanted& wanted);

  const Source& source_;
  Use use_;
  std::vector<Wanted> wanted_;
  std::vector<std::byte> content_;
  Address start_ = 0, end_ = 0;
  std::uint64_t unread_bytes_ = 0, read_bytes_ = 0;
};

template <typename Tag, typename Use>
void JoinedReader<Tag, Use>::flush() {
  if (wanted_.empty()) return;
  if (content_.size() < end_ - start_) content_.resize(end_ - start_);
  const std::size_t got = source_.read(start_, content_.data(), end_ - start_);
  read_bytes_ += got;
  for (const Wanted& wanted : wanted_) {
    const std::size_t offset = wanted.address - start_;
    if (offset + wanted.bytes <= got)
      use_(wanted.tag, content_.data() + offset, wanted.bytes);
    else
      use_alone(wanted);
  }
  wanted_.clear();
}

/// Behind a hole in a piece: what lies on the other side of holes is read too.
template <typename Tag, typename Use>
void JoinedReader<Tag, Use>::use_alone(const Wanted& wanted) {
  std::vector<std::byte> content(wanted.bytes);
  bool is_used = false;
  for (std::size_t offset = 0; offset < wanted.bytes;) {
    const std::size_t got =
        source_.read(wanted.address + offset, content.data() + offset, wanted.bytes - offset);
    read_bytes_ += got;
    if (got > 0) use_(wanted.tag, content.data() + offset, got);
    is_used = is_used || got > 0;
    offset += got;
    if (offset == wanted.bytes) break;
    const std::size_t hole = kPageBytes - (wanted.address + offset) % kPageBytes;
    const std::size_t skipped = hole < wanted.bytes - offset ? hole : wanted.bytes - offset;
    unread_bytes_ += skipped;
    offset += skipped;
  }
  if (!is_used) use_(wanted.tag, content.data(), 0);
}

}  // namespace tarn::observer
