#include "central/private_classes.h"

namespace tarn::internal {

constinit PerClass<PrivateClass> private_classes{};

const ClassGeometry& private_geometry(SizeClass size_class) { return private_class(size_class).geometry; }

}  // namespace tarn::internal
