// What pools do at their end with what is live then.
#pragma once
#include <cstdint>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE {

/// The fate of objects, or of buffers, that are live when their pool ends.
enum class AtPoolEnd : std::uint8_t {
  kReport,  // one line on standard error; they stay valid, as with kHandOver
  // Destructors run in address order; a destructor may neither destroy nor create other objects. Buffers end;
  // no handle of theirs may be used any more, nor end.
  kDestroy,
  // Objects stay valid; call the destructor, then tarn::deallocate frees the memory. Buffers stay valid; the
  // last handle, or tarn::deallocate, frees them.
  kHandOver,
};

}  // namespace TARN_NAMESPACE
