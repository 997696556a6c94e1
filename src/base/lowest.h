// The lowest of many, kept in an array that has room for some.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tarn::internal {

/// Adds an item, or forgets the highest, this one or another. The items are a heap with the highest on top
/// until std::sort_heap.
template <typename Item, typename IsLower>
void keep_lowest(Item* items, std::uint32_t& count, std::uint32_t most, const Item& item,
                 const IsLower& is_lower) {
  if (count == most) {
    if (!is_lower(item, items[0])) return;
    std::pop_heap(items, items + count--, is_lower);
  }
  items[count++] = item;
  std::push_heap(items, items + count, is_lower);
}
template <typename Item>
void keep_lowest(Item* items, std::uint32_t& count, std::uint32_t most, const Item& item) {
  keep_lowest(items, count, most, item, [](const Item& one, const Item& other) { return one < other; });
}

}  // namespace tarn::internal
