// What the policies without tarn's pools share: objects of a maker, and a character's part of a region, which
// is the region itself.
#pragma once
#include <cstddef>
#include <utility>

namespace game {

/// \tparam Maker has make(arguments...) and end(object).
template <typename T, typename Maker>
class MadeObjects : private Maker {
 public:
  using Maker::Maker;
  template <typename... Arguments>
  T* create(Arguments&&... arguments) {
    return Maker::make(std::forward<Arguments>(arguments)...);
  }
  void destroy(T* object) noexcept { Maker::end(object); }
};

template <typename Region>
class PartOfRegion {
 public:
  explicit PartOfRegion(Region& region) : region_(region) {}
  void* allocate(std::size_t bytes) { return region_.allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) noexcept { region_.deallocate(block, bytes); }
  /// Ends what lies in the part, by its one object that owns all others.
  template <typename T>
  void end(T* root) {
    root->~T();
    deallocate(root, sizeof(T));
  }
  bool wants_renewal() const { return false; }

 private:
  Region& region_;
};

}  // namespace game
