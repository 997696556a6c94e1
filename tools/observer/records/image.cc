#include "observer/records/image.h"

#include <algorithm>

#include "observer/records/large_memory.h"

namespace tarn::observer {

/// \returns how many of the bytes from an address on are mapped in one piece.
std::uint64_t Image::mapped_bytes(Address start, std::uint64_t bytes) const {
  const std::span<const Mapping> mappings = source_.mappings();
  auto next = std::ranges::upper_bound(mappings, start, {}, &Mapping::end);
  Address end = start;
  while (next != mappings.end() && next->start <= end && next->is_readable && end - start < bytes) {
    end = next->end;
    ++next;
  }
  return std::min(end - start, bytes);
}

Image::Piece Image::read(Address start, std::uint64_t bytes) {
  constexpr std::uint64_t kRoundOfARead = kPageBytes;  // a call costs about as much as a page
  bounds_.spend_bytes(std::max(bytes, kRoundOfARead));
  Piece piece{start, 0, std::make_unique_for_overwrite<std::byte[]>(bytes)};
  advise_huge_pages(piece.copy.get(), bytes);
  piece.bytes = source_.read(start, piece.copy.get(), bytes);
  return piece;
}

void Image::load(Address start, std::uint64_t bytes) {
  const std::uint64_t there = mapped_bytes(start, bytes);
  if (there == 0) return;
  Piece piece = read(start, there);
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
  // What is small may have been mapped since.
  if (bytes > kSmallBytes && mapped_bytes(address, bytes) < bytes) return {};
  const Address first_page = address & ~(kPageBytes - 1);
  const std::uint64_t pages = (address - first_page + bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  if (const Bytes copy = keep(read(first_page, pages), address, bytes); !copy.empty()) return copy;
  // A dump may hold a part of a page.
  return keep(read(address, bytes), address, bytes);
}

}  // namespace tarn::observer
