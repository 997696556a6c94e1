// The distance of two samples, as a user writes it.
#pragma once
#include <cstdint>
#include <string>

namespace tarn::tool {

/// \returns bytes, at least 1. \throws UsageError
std::uint64_t sample_interval(const std::string& text);

}  // namespace tarn::tool
