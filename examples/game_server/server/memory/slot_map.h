// Objects that are named by a slot and a generation, each from a maker of the policy's: what a server writes
// for itself where no library has handles.
//
// Threads: one.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace game {

/// Ref<T>() names nothing.
template <typename T>
struct SlotRef {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // odd; 0 in the one that names nothing

  friend bool operator==(const SlotRef&, const SlotRef&) = default;
};

/// \tparam Maker has make(arguments...) and end(object).
template <typename T, typename Maker>
class SlotMap : private Maker {
 public:
  using Maker::Maker;
  SlotMap(const SlotMap&) = delete;
  SlotMap& operator=(const SlotMap&) = delete;
  ~SlotMap() {
    for (const Slot& slot : slots_)
      if (slot.object != nullptr) Maker::end(slot.object);
  }

  template <typename... Arguments>
  SlotRef<T> create(Arguments&&... arguments) {
    T* const object = Maker::make(std::forward<Arguments>(arguments)...);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].object = object;
    ++live_count_;
    return {slot, ++slots_[slot].generation};
  }
  T* get(SlotRef<T> ref) const {
    return ref.slot < slots_.size() && slots_[ref.slot].generation == ref.generation ? slots_[ref.slot].object
                                                                                     : nullptr;
  }
  void destroy(SlotRef<T> ref) {
    T* const object = get(ref);
    if (object == nullptr) return;
    Slot& slot = slots_[ref.slot];
    slot.object = nullptr;
    ++slot.generation;
    free_.push_back(ref.slot);
    --live_count_;
    Maker::end(object);
  }
  /// visit may destroy any object.
  template <typename Visit>
  void for_each_live(Visit&& visit) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].object != nullptr) visit(SlotRef<T>{i, slots_[i].generation}, *slots_[i].object);
  }
  std::size_t live_count() const { return live_count_; }

 private:
  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 0;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t live_count_ = 0;
};

}  // namespace game
