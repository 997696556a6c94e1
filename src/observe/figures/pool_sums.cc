#include "observe/figures/pool_sums.h"

#include <cstring>
#include <new>

#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

void copy_name(char* copy, const char* name) { std::memcpy(copy, name, std::strlen(name) + 1); }

PoolSums::Sum* make_sum(const PoolUse& use) {
  void* const record = metadata.allocate(sizeof(PoolSums::Sum));
  if (record == nullptr) return nullptr;
  auto* const sum = new (record) PoolSums::Sum{{nullptr, 1, use}, {}, {}};
  copy_name(sum->name, use.name);
  sum->use.name = sum->name;
  if (use.parent != nullptr) {
    copy_name(sum->parent, use.parent);
    sum->use.parent = sum->parent;
  }
  return sum;
}

}  // namespace

PoolSums::~PoolSums() {
  while (PoolSum* const sum = first_) {
    first_ = sum->next;
    metadata.end(static_cast<Sum*>(sum));
  }
}

bool PoolSums::add(const PoolUse& use) {
  for (PoolSum* sum = first_; sum != nullptr; sum = sum->next) {
    if (!has_labels_of(sum->use, use)) continue;
    add_pool(*sum, use);
    return true;
  }
  Sum* const sum = make_sum(use);
  if (sum == nullptr) return false;
  *end_ = sum;
  end_ = &sum->next;
  return true;
}

bool PoolSums::collect() {
  bool is_whole = true;
  visit_each_pool([&](const PoolUse& use) { is_whole = is_whole && add(use); });
  return is_whole;
}

}  // namespace tarn::internal
