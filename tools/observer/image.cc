#include "observer/image.h"

#include <algorithm>

namespace tarn::observer {

Image::Piece Image::read(Address start, std::uint64_t bytes) {
  constexpr std::uint64_t kRoundOfARead = kPageBytes;  // a call costs about as much as a page
  bounds_.spend_bytes(std::max(bytes, kRoundOfARead));
  Piece piece{start, 0, std::make_unique_for_overwrite<std::byte[]>(bytes)};
  piece.bytes = source_.read(start, piece.copy.get(), bytes);
  return piece;
}

void Image::load(Address start, std::uint64_t bytes) {
  Piece piece = read(start, bytes);
  const auto place = std::ranges::upper_bound(pieces_, start, {}, &Piece::start);
  pieces_.insert(place, std::move(piece));
}

Bytes Image::find(Address address, std::uint64_t bytes) const {
  const auto behind = std::ranges::upper_bound(pieces_, address, {}, &Piece::start);
  if (behind != pieces_.begin())
    if (const Bytes copy = (behind - 1)->part(address, bytes); !copy.empty()) return copy;
  const auto other = by_page_.find(address & ~(kPageBytes - 1));
  return other != by_page_.end() ? other->second->part(address, bytes) : Bytes();
}

Bytes Image::keep(Piece piece, Address address, std::uint64_t bytes) {
  const Piece& kept = others_.emplace_back(std::move(piece));
  by_page_[kept.start & ~(kPageBytes - 1)] = &kept;
  return kept.part(address, bytes);
}

Bytes Image::view(Address address, std::uint64_t bytes) {
  if (bytes == 0 || address + bytes < address) return {};
  if (const Bytes copy = find(address, bytes); !copy.empty()) return copy;
  const Address first_page = address & ~(kPageBytes - 1);
  const std::uint64_t pages = (address - first_page + bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  if (const Bytes copy = keep(read(first_page, pages), address, bytes); !copy.empty()) return copy;
  // A dump may hold a part of a page.
  return keep(read(address, bytes), address, bytes);
}

}  // namespace tarn::observer
