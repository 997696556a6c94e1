// Of the library's own detail/mutex.h, what public headers ask.
#pragma once
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

struct ProgramGuard {
  static constexpr bool is_needed() { return true; }
};

}  // namespace TARN_NAMESPACE::detail
