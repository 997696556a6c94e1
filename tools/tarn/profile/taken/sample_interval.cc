#include "profile/taken/sample_interval.h"

#include <fmt/format.h>

#include "base/options/option_parser.h"
#include "base/options/option_table.h"
#include "system/files/usage_error.h"

namespace tarn::tool {

std::uint64_t sample_interval(const std::string& text) {
  constexpr const internal::OptionInfo& kOption =
      internal::kOptionTable[static_cast<std::size_t>(internal::Option::kProfile)];
  std::int64_t bytes = 0;
  if (!internal::parse_option_value(kOption, text, &bytes) || bytes < 1)
    throw UsageError(
        fmt::format("\"{}\" is no distance of two samples: from 1 (each block) to 1G, as in 512K", text));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tarn::tool
