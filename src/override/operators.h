// How each form of operator new and delete is exported, and how to tell our forms from the program's.
#pragma once
#include <cstddef>
#include <new>

/// Weak, as in the C++ runtime's archive: a program linked with libtarn.a may define any of them itself.
#define TARN_OPERATOR [[gnu::visibility("default"), gnu::weak]]

namespace tarn::internal {

/// Whether none of the forms that our forms call was replaced. Then the derived forms may use the thread's
/// cache, and this call shows it to them. \cost that of a slow call: never on a hit.
bool derived_forms_may_hit();

}  // namespace tarn::internal
