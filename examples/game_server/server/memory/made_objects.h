// What the policies without tarn's pools share: objects of a maker.
#pragma once
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

}  // namespace game
