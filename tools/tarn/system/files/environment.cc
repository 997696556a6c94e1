// A list of NAME=value.
#include "system/files/environment.h"

#include <unistd.h>

namespace tarn::tool {

Environment::Environment() {
  for (char** entry = environ; *entry != nullptr; ++entry) entries_.emplace_back(*entry);
}

std::string Environment::get(const std::string& name) const {
  for (const std::string& entry : entries_)
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return {};
}

void Environment::set(const std::string& name, const std::string& value) {
  remove(name);
  entries_.push_back(name + "=" + value);
}

void Environment::set(const Settings& settings) {
  for (const auto& [name, value] : settings) set(name, value);
}

void Environment::remove(const std::string& name) {
  std::erase_if(entries_, [&](const std::string& entry) { return entry.starts_with(name + "="); });
}

void Environment::preload(const std::string& library) {
  const std::string others = get("LD_PRELOAD");
  set("LD_PRELOAD", others.empty() ? library : library + ":" + others);
}

}  // namespace tarn::tool
