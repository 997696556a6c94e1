// Mapped files as modules.
#include "observer/objects/modules.h"

#include <algorithm>

namespace tarn::observer {
namespace {

bool is_file(const Mapping& mapping) { return mapping.path.starts_with('/'); }

bool continues(const Module& module, const Mapping& mapping) {
  return mapping.start == module.end && (mapping.path.empty() || mapping.path == module.path);
}

}  // namespace

Modules::Modules(std::span<const Mapping> mappings) {
  bool has_nameless_end = false;
  for (const Mapping& mapping : mappings) {
    if (!modules_.empty() && continues(modules_.back(), mapping) && !has_nameless_end) {
      modules_.back().end = mapping.end;
      has_nameless_end = mapping.path.empty();
    } else if (is_file(mapping) && !mapping.is_shared) {
      modules_.push_back({mapping.start, mapping.end, mapping.path});
      has_nameless_end = false;
    }
  }
}

const Module* Modules::find(Address address) const {
  if (modules_.empty() || address < modules_.front().start || address >= modules_.back().end) return nullptr;
  const auto behind = std::upper_bound(modules_.begin(), modules_.end(), address,
                                       [](Address a, const Module& module) { return a < module.start; });
  return address < behind[-1].end ? &behind[-1] : nullptr;
}

}  // namespace tarn::observer
