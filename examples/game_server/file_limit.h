// Sockets are files: both programs ask for as many as the system lets them have.
#pragma once
#include <sys/resource.h>

#include <cstddef>

namespace game {

/// Raises the soft limit of open files to the hard one. \returns how many files the process may have.
inline std::size_t raise_file_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace game
