// Handlers of Asio whose memory comes from a pool: Asio keeps each pending handler in memory it asks the handler's own
// allocator for, one block per operation.
//
//   socket.async_read_some(buffer, tarn::with_allocator([this](auto error, auto count) { … }));
//   socket.async_read_some(buffer, tarn::with_allocator(heap, handler));
//
// Works with Boost.Asio and standalone Asio of any version that knows associated allocators (1.11); neither is included
// here. A handler's executor stays its own.
// Threads: those of the source; Asio frees a handler's memory in the thread that runs it.
#pragma once
#include <type_traits>
#include <utility>

#include "tarn/allocator.h"

namespace tarn {
namespace detail {

template <typename Handler>
struct HandlerExecutor {};

template <typename Handler>
  requires requires { typename Handler::executor_type; }
struct HandlerExecutor<Handler> {
  using executor_type = typename Handler::executor_type;
};

}  // namespace detail

template <typename Handler, typename Source>
class AllocatedHandler : public detail::HandlerExecutor<Handler> {
 public:
  using allocator_type = allocator<void*, Source>;  // Asio binds it to its own type

  AllocatedHandler(Handler handler, allocator_type source) : handler_(std::move(handler)), allocator_(source) {}

  allocator_type get_allocator() const noexcept { return allocator_; }
  auto get_executor() const noexcept
    requires requires(const Handler& handler) { handler.get_executor(); }
  {
    return handler_.get_executor();
  }

  template <typename... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) {
    return handler_(std::forward<Arguments>(arguments)...);
  }

 private:
  Handler handler_;
  [[no_unique_address]] allocator_type allocator_;
};

/// The handler with memory from the general pool.
template <typename Handler>
auto with_allocator(Handler&& handler) {
  return AllocatedHandler<std::decay_t<Handler>, MemoryPool>(std::forward<Handler>(handler), {});
}

/// The handler with memory from a pool that must outlive the operation.
template <typename Source, typename Handler>
auto with_allocator(Source& source, Handler&& handler) {
  return AllocatedHandler<std::decay_t<Handler>, Source>(std::forward<Handler>(handler), source);
}

}  // namespace tarn
