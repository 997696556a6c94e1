// How each form of operator new and delete is exported, and how ours are told from the program's.
#pragma once
#include <cstddef>
#include <new>

/// Weak, as in the C++ runtime's archive: a program linked with libtarn.a may define any of them itself.
#define TARN_OPERATOR [[gnu::visibility("default"), gnu::weak]]

namespace tarn::internal {

/// Whether no form that another of ours calls has been replaced. Then the derived forms may serve the thread
/// from its cache, which this shows to them. \cost a slow call's: never on a hit.
bool derived_forms_may_hit();

}  // namespace tarn::internal
