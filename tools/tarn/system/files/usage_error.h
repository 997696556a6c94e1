// What the user asked for cannot be done as asked. main() prints the one line and exits with status 2.
#pragma once
#include <stdexcept>

namespace tarn::tool {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tarn::tool
