// Visiting blocks one by one.
#pragma once

namespace tarn::internal {

/// A function and its context; needs no allocation.
struct BlockVisitor {
  void (*call)(void* block, void* context);
  void* context;
  void operator()(void* block) const { call(block, context); }
};

}  // namespace tarn::internal
