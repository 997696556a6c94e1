// The environment a program is started with: a copy of the tool's own that can be changed.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tarn::tool {

/// Names and values.
using Settings = std::vector<std::pair<std::string, std::string>>;

class Environment {
 public:
  /// A copy of the tool's own environment.
  Environment();
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  /// Empty if it is not set.
  std::string get(const std::string& name) const;
  void set(const std::string& name, const std::string& value);
  void set(const Settings& settings);
  void remove(const std::string& name);
  /// Puts a library before those that are preloaded already.
  void preload(const std::string& library);
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> entries_;  // NAME=value
};

}  // namespace tarn::tool
