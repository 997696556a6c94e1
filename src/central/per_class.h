// An array with one element for each size class.
#pragma once
#include "central/size_class.h"

namespace tarn::internal {

template <typename T>
struct PerClass {
  T of[kClassCount];

  T& operator[](SizeClass size_class) { return of[index_of_class(size_class)]; }
  const T& operator[](SizeClass size_class) const { return of[index_of_class(size_class)]; }
};

/// All size classes, those of typed pools included: for (SizeClass size_class : kAllClasses).
struct AllClasses {
  struct Iterator {
    unsigned index;
    SizeClass operator*() const { return class_of_index(index); }
    Iterator& operator++() { return ++index, *this; }
    bool operator!=(const Iterator& other) const { return index != other.index; }
  };
  Iterator begin() const { return {1}; }
  Iterator end() const { return {kClassCount}; }
};
inline constexpr AllClasses kAllClasses;

}  // namespace tarn::internal
