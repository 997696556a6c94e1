// Steps out of heap scopes, for memory that may outlive the heap of a scope.
#pragma once
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Gives the calling thread another scope. \param scope what an exchange returned; nullptr: none. \returns
/// the one before. \cost of nullptr where there is no scope, a call and a comparison.
TARN_API void* exchange_scope(void* scope) noexcept;

/// While it exists, the general pool serves the thread, also in the scope of a heap that could not be made.
class OutsideScopes {
 public:
  OutsideScopes() noexcept : scope_(exchange_scope(nullptr)) {}
  TARN_LOCAL ~OutsideScopes() {
    if (scope_ != nullptr) exchange_scope(scope_);
  }
  OutsideScopes(const OutsideScopes&) = delete;
  OutsideScopes& operator=(const OutsideScopes&) = delete;

 private:
  void* scope_;
};

}  // namespace TARN_NAMESPACE::detail
