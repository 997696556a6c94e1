// A piece of memory, as <sys/uio.h> has it where the system has that.
#pragma once
#include <cstddef>

struct iovec {
  void* iov_base;
  std::size_t iov_len;
};
