// A directory of its own for a test that needs files.
#pragma once
#include <fstream>
#include <string>

#include "system/files/files.h"

namespace tarn::tool {

class ScratchDirectory {
 public:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string path() const { return directory_.path().string(); }
  std::string add_file(const std::string& name, const std::string& content = "") const {
    std::ofstream(path(name)) << content;
    return path(name);
  }
  std::string add_program(const std::string& name, const std::string& content) const {
    using std::filesystem::perms;
    add_file(name, content);
    std::filesystem::permissions(path(name), perms::owner_all);
    return path(name);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace tarn::tool
