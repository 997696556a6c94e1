// JSON of this room.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "observer/text/json_text.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

using Json = observer::Json;

/// Estimates as whole numbers: no reader wants 3.9999 blocks.
inline std::int64_t whole(double number) { return static_cast<std::int64_t>(std::llround(number)); }

/// Estimates one after the other as whole numbers whose sum is that of the estimates: what rounding took from
/// one the next has. \why a document of many stacks would else tell of a third too much or too little.
class Rounding {
 public:
  std::int64_t operator()(double number) {
    const double wanted = std::max(number + rest_, 0.0);
    rest_ = wanted - std::round(wanted);
    return whole(wanted);
  }

 private:
  double rest_ = 0;
};

Json to_json(const Amount& amount);
/// The same, of one of many.
Json to_json(const Amount& amount, Rounding& blocks, Rounding& bytes);
/// {"function", "file", "line"}; what is not known is left out.
/// "program", "wrapper", "library"
const char* name_of(FrameRole role);
Json to_json(const Frame& frame);
Json to_json(const std::vector<Frame>& frames);
/// "heap 2", or null for the general pool.
Json pool_json(const std::string& pool);

/// One line, without what may not be shown.
std::string text_of(const Json& json);

}  // namespace tarn::profile
