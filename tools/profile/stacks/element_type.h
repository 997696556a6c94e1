// The type of the objects that a stack made memory for, read off the names of the functions in it.
//
// The idea: `new` keeps no type, but what calls it in C++ does: std::allocator<Node>::allocate,
// std::make_unique<Node>, tarn::ObjectPool<Node>::make; in Rust Vec<Node>. The innermost such name tells it,
// before the program's own function is reached; and of a function that calls operator new itself, the
// constructor behind that call.
#pragma once
#include <string>
#include <unordered_map>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// "" where no name up to the program's own function tells it.
class ElementTypes {
 public:
  /// \param locations innermost first. \param allocators so many of them are the allocator's
  std::string of(const std::vector<const Location*>& locations, std::size_t allocators);

 private:
  struct Part {
    std::string type = {}, makes = {};
    bool is_end = false;  // the program's own function is in it
  };
  const Part& of(const Location& location);

  std::unordered_map<const Location*, Part> parts_;
};

/// "Node" of "std::allocator<Node>::allocate(unsigned long)"; "" of a function that makes no objects.
std::string element_type_in(std::string_view function);

}  // namespace tarn::profile
