#include "tarn/small_object.h"

#include "support/prelude.h"

namespace tarn::test {
namespace {

struct Plain : SmallObject<Plain> {
  int value = 7;
};
struct Node : SmallObject<Node> {
  virtual ~Node() = default;
};
struct Leaf : Node {
  char bytes[300] = {};
};
struct alignas(128) Aligned : SmallObject<Aligned> {
  char bytes[128];
};
struct Throws : SmallObject<Throws> {
  Throws() { throw 1; }
};

TEST(SmallObject, BlocksAreOfTheGeneralPoolAtTheTypesOwnSize) {
  prewarm(0);  // the first blocks of a size may be larger
  const auto object = std::make_unique<Plain>();
  EXPECT_EQ(object->value, 7);
  EXPECT_EQ(usable_size(object.get()), good_size(sizeof(Plain)));
}

TEST(SmallObject, ADerivedTypeGetsItsOwnSizeAndIsDeletedThroughItsBase) {
  std::unique_ptr<Node> node(new Leaf);
  EXPECT_GE(usable_size(node.get()), sizeof(Leaf));
}

TEST(SmallObject, ArraysKeepTheirCountAndRunAllDestructors) {
  const std::unique_ptr<Leaf[]> leaves(new Leaf[10]);
  EXPECT_EQ(leaves[9].bytes[299], 0);
}

TEST(SmallObject, OverAlignedTypesAreAligned) {
  const std::unique_ptr<Aligned> one(new Aligned);
  const std::unique_ptr<Aligned[]> several(new Aligned[3]);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.get()) % 128, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(several.get()) % 128, 0u);
}

TEST(SmallObject, PlacementAndNothrowFormsAreThere) {
  alignas(Plain) unsigned char storage[sizeof(Plain)];
  Plain* const placed = ::new (static_cast<void*>(storage)) Plain;
  EXPECT_EQ(static_cast<void*>(placed), static_cast<void*>(storage));
  Plain* const in_place = new (storage) Plain;
  EXPECT_EQ(in_place->value, 7);
  Plain* const plain = new (std::nothrow) Plain;
  ASSERT_NE(plain, nullptr);
  delete plain;
}

TEST(SmallObject, AConstructorThatThrowsLosesNothing) {
  for (int i = 0; i < 1000; ++i) EXPECT_THROW(delete new Throws, int);
}

}  // namespace
}  // namespace tarn::test
