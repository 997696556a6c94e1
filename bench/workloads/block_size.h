// Block sizes as types: a size that the source fixes is known to the compiler, as it is in the source; one
// that somebody asked for on the command line is known at run time only.
#pragma once
#include <cstddef>
#include <type_traits>

namespace tarn::bench {

template <std::size_t Bytes>
using ConstantSize = std::integral_constant<std::size_t, Bytes>;

struct RunTimeSize {
  std::size_t bytes;
  operator std::size_t() const { return bytes; }
};

/// Calls `body` with the size as a ConstantSize. \returns false when it is none of those known
template <std::size_t... Known, class Body>
bool with_known_size(std::size_t bytes, Body body) {
  const auto try_size = [&](auto known) {
    if (bytes != known) return false;
    body(known);
    return true;
  };
  return (try_size(ConstantSize<Known>{}) || ...);
}

/// The same; a size that is not known becomes a RunTimeSize.
template <std::size_t... Known, class Body>
void with_size(std::size_t bytes, Body body) {
  if (!with_known_size<Known...>(bytes, body)) body(RunTimeSize{bytes});
}

}  // namespace tarn::bench
