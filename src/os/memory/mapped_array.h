// An array in mapped memory of its own, that grows: for what looks at the program's blocks and must make
// none.
#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/units.h"
#include "os/memory/memory.h"

namespace tarn::internal::os {

template <typename Element>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<Element>);

 public:
  MappedArray() = default;
  ~MappedArray() {
    if (start_ != nullptr) release(start_, bytes_for(room_));
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;

  /// \returns false when memory is refused; then nothing has changed.
  bool reserve(std::size_t count) {
    if (count <= room_) return true;
    const std::size_t room = bytes_for(count) / sizeof(Element);
    auto* const larger = static_cast<Element*>(map(bytes_for(room)));
    if (larger == nullptr) return false;
    if (start_ != nullptr) {
      std::memcpy(static_cast<void*>(larger), start_, size_ * sizeof(Element));
      release(start_, bytes_for(room_));
    }
    start_ = larger;
    room_ = room;
    return true;
  }
  bool push(const Element& element) {
    if (size_ == room_ && !reserve(room_ == 0 ? kFirstRoom : room_ * 2)) return false;
    start_[size_++] = element;
    return true;
  }
  /// \pre there is room; elements that come anew are whatever was there, at first zeros.
  void set_size(std::size_t size) { size_ = size; }

  /// \returns the elements, which from now on stay.
  Element* keep() {
    Element* const kept = start_;
    start_ = nullptr;
    room_ = size_ = 0;
    return kept;
  }

  std::size_t size() const { return size_; }
  Element* begin() { return start_; }
  Element* end() { return start_ + size_; }
  const Element* begin() const { return start_; }
  const Element* end() const { return start_ + size_; }
  Element& operator[](std::size_t i) { return start_[i]; }
  const Element& operator[](std::size_t i) const { return start_[i]; }

  /// Where it lies; empty when it has no memory.
  AddressRange memory() const { return {address_of(start_), address_of(start_) + bytes_for(room_)}; }

 private:
  static constexpr std::size_t kFirstRoom = 1024;
  static std::size_t bytes_for(std::size_t count) {
    return round_up(count * sizeof(Element), kOsPageBytesLargest);
  }

  Element* start_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace tarn::internal::os
