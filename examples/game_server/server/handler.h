// A completion handler whose operation asio keeps in memory of the policy's.
#pragma once
#include <utility>

#include "memory_policy.h"

namespace game {

template <typename Handlers, typename Function>
class Handler {
 public:
  using allocator_type = AllocatorOver<char, Handlers>;

  Handler(Handlers& source, Function function) : source_(&source), function_(std::move(function)) {}
  allocator_type get_allocator() const noexcept { return allocator_type(*source_); }

  template <typename... Arguments>
  void operator()(Arguments&&... arguments) {
    function_(std::forward<Arguments>(arguments)...);
  }

 private:
  Handlers* source_;
  Function function_;
};

}  // namespace game
