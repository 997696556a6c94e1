// The texts of the game: names of things, tasks and letters, put together from a few words.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "../../random.h"

namespace game {

/// Text that is being put together; longer ones are cut.
class Wording {
 public:
  Wording& add(std::string_view words) {
    size_ += words.copy(text_ + size_, sizeof(text_) - size_);
    return *this;
  }
  std::string_view text() const { return {text_, size_}; }

 private:
  char text_[400];
  std::size_t size_ = 0;
};

template <std::size_t kCount>
std::string_view any_of(Random& random, const std::array<std::string_view, kCount>& words) {
  return words[static_cast<std::size_t>(random.between(0, kCount - 1))];
}

inline constexpr std::array<std::string_view, 8> kQualities = {
    "worn", "gleaming", "cursed", "ancient", "dwarven", "well balanced", "half forgotten", "plain"};
inline constexpr std::array<std::string_view, 10> kThings = {
    "longsword", "kite shield",     "healing draught", "coil of rope",
    "lantern",   "wolf pelt",       "silver ring",     "map of the western marches",
    "tinderbox", "bundle of arrows"};
inline constexpr std::array<std::string_view, 8> kPlaces = {
    "the old mill",  "the northern marches", "Eastwatch",   "the drowned chapel",
    "the salt road", "the king's forest",    "Greyharbour", "the upper mine"};
inline constexpr std::array<std::string_view, 6> kDeeds = {
    "drive the wolves from",           "carry word to the garrison of",
    "find the miller's daughter near", "gather thirty bundles of firewood at",
    "buy salt for the winter in",      "learn who lit the fires at"};

inline Wording name_of_thing(Random& random) {
  Wording name;
  name.add(any_of(random, kQualities)).add(" ").add(any_of(random, kThings));
  if (random.between(0, 2) == 0) name.add(" of ").add(any_of(random, kPlaces));
  return name;
}

inline Wording task(Random& random) {
  Wording text;
  text.add(any_of(random, kDeeds)).add(" ").add(any_of(random, kPlaces)).add(", then return with ");
  text.add("a ").add(name_of_thing(random).text()).add(" before the first snow");
  return text;
}

inline Wording letter(Random& random) {
  Wording text;
  for (int i = random.between(1, 5); i > 0; --i)
    text.add("We have had no news from ").add(any_of(random, kPlaces)).add(" since the harvest. ");
  text.add("Send a ").add(name_of_thing(random).text()).add(".");
  return text;
}

}  // namespace game
