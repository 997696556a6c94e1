#include "central/private_classes.h"

namespace tarn::internal {

constinit PerClass<PrivateClass> private_classes{};

const ClassGeometry& private_geometry(SizeClass size_class) {
  return geometry_of(*private_class(size_class).owner, size_class);
}

}  // namespace tarn::internal
