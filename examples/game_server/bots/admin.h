// A connection of its own on which the server is asked for its figures.
#pragma once
#include <netinet/in.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "../protocol.h"

namespace game {

class AdminLine {
 public:
  /// \throws std::system_error when nobody answers
  explicit AdminLine(const sockaddr_in& server);
  ~AdminLine();
  AdminLine(const AdminLine&) = delete;
  AdminLine& operator=(const AdminLine&) = delete;

  void ask(Admin what);
  /// \returns the answer, once it is there. \throws std::runtime_error when the server has hung up
  std::optional<nlohmann::json> answer();

 private:
  int descriptor_;
  std::string received_;
};

}  // namespace game
