// What a program's own basic operators (own_operators.cc) have seen.
#pragma once
#include <new>

struct OwnCounts {
  long news, aligned_news, deletes, aligned_deletes;
  long foreign_blocks;  // given to delete, from another operator new
};

extern "C" OwnCounts* own_operator_counts();
extern "C" void let_own_operators_throw(int whether);  // 1: each new throws bad_alloc
