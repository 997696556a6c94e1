/* The entries that BufferChain::fill_iovecs fills, for a system without scattered writes. */
#pragma once
#include <stddef.h>

struct iovec {
  void* iov_base;
  size_t iov_len;
};
