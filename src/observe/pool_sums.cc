#include "observe/pool_sums.h"

#include <cstring>
#include <new>

#include "observe/pool_fields.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

bool are_equal(const char* one, const char* other) {
  return one == other || (one != nullptr && other != nullptr && std::strcmp(one, other) == 0);
}

bool has_labels_of(const PoolUse& one, const PoolUse& other) {
  return one.block_bytes == other.block_bytes && are_equal(one.name, other.name) &&
         are_equal(one.kind, other.kind) && are_equal(one.parent, other.parent);
}

// One without a limit leaves all together without one.
std::size_t sum_of(std::size_t one, std::size_t other) {
  return one > PoolUse::kNoLimit - other ? PoolUse::kNoLimit : one + other;
}

void copy_name(char* copy, const char* name) { std::memcpy(copy, name, std::strlen(name) + 1); }

PoolSums::Sum* make_sum(const PoolUse& use) {
  void* const record = metadata.allocate(sizeof(PoolSums::Sum));
  if (record == nullptr) return nullptr;
  auto* const sum = new (record) PoolSums::Sum{nullptr, 1, use, {}, {}};
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
  while (Sum* const sum = first_) {
    first_ = sum->next;
    metadata.free(sum, sizeof(Sum));
  }
}

bool PoolSums::add(const PoolUse& use) {
  for (Sum* sum = first_; sum != nullptr; sum = sum->next) {
    if (!has_labels_of(sum->use, use)) continue;
    ++sum->pools;
    for (const PoolField& field : kPoolFields)
      sum->use.*field.member = sum_of(sum->use.*field.member, use.*field.member);
    return true;
  }
  Sum* const sum = make_sum(use);
  if (sum == nullptr) return false;
  *end_ = sum;
  end_ = &sum->next;
  return true;
}

bool PoolSums::collect() {
  struct Collection {
    PoolSums* sums;
    bool is_whole;
  } collection{this, true};
  for_each_pool(
      [](const PoolUse& use, void* context) {
        auto& into = *static_cast<Collection*>(context);
        into.is_whole = into.is_whole && into.sums->add(use);
      },
      &collection);
  return collection.is_whole;
}

}  // namespace tarn::internal
