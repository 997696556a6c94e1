#include "observer/image.h"

#include <algorithm>

namespace tarn::observer {

Image::Piece Image::read(Address start, std::uint64_t bytes) {
  Piece piece{start, 0, std::make_unique_for_overwrite<std::byte[]>(bytes)};
  piece.bytes = source_.read(start, piece.copy.get(), bytes);
  ++reads_;
  read_bytes_ += piece.bytes;
  return piece;
}

void Image::load(Address start, std::uint64_t bytes) {
  if (bytes > kMostBytes - std::min(read_bytes_, kMostBytes)) return;
  Piece piece = read(start, bytes);
  const auto place = std::ranges::upper_bound(pieces_, start, {}, &Piece::start);
  pieces_.insert(place, std::move(piece));
}

const std::byte* Image::find(Address address, std::uint64_t bytes) const {
  const auto behind = std::ranges::upper_bound(pieces_, address, {}, &Piece::start);
  if (behind == pieces_.begin()) return nullptr;
  const Piece& piece = *(behind - 1);
  const std::uint64_t offset = address - piece.start;
  return offset <= piece.bytes && bytes <= piece.bytes - offset ? piece.copy.get() + offset : nullptr;
}

const std::byte* Image::view(Address address, std::uint64_t bytes) {
  if (const std::byte* const copy = find(address, bytes)) return copy;
  if (bytes > kMostAtOnce || read_bytes_ > kMostBytes) return nullptr;
  Piece piece = read(address, bytes);
  if (piece.bytes != bytes) return nullptr;
  return others_.emplace_back(std::move(piece)).copy.get();
}

}  // namespace tarn::observer
