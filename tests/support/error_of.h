// The words of an error that a test expects.
#pragma once
#include <string>

namespace tarn::test {

/// Runs `work`. \returns what the Error that it throws says, "" without one.
template <typename Error, typename Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tarn::test
