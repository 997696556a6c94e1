// A question that a forked child answers, so that whatever happens on the way to the answer (a crash, a read
// that never ends, rights that are given up for good) happens to the child alone.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace tarn::tool {

/// \returns what `answer` returned in the child; nothing when it threw, died or took longer than `seconds`.
std::optional<std::string> ask_child(double seconds, const std::function<std::string()>& answer);

}  // namespace tarn::tool
