// Visiting blocks one by one.
#pragma once

namespace tarn::internal {

/// Refers to any function of a block, which must outlive the visitor; needs no allocation.
class BlockVisitor {
 public:
  template <typename Visit>
  BlockVisitor(const Visit& visit)
      : call_([](void* block, const void* context) { (*static_cast<const Visit*>(context))(block); }),
        context_(&visit) {}
  void operator()(void* block) const { call_(block, context_); }

 private:
  void (*call_)(void* block, const void* context);
  const void* context_;
};

}  // namespace tarn::internal
