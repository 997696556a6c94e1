// Asio handlers whose memory comes from a pool: Asio keeps each pending handler in one block per operation,
// and asks the handler's own allocator for it.
//
//   socket.async_read_some(buffer, tarn::with_allocator([this](auto error, auto count) { … }));
//   socket.async_read_some(buffer, tarn::with_allocator(heap, handler));
//
// Works with Boost.Asio and standalone Asio from the version with associated allocators (1.11) on. From Asio
// 1.22 (Boost 1.79) on, which has bind_allocator, any completion token may take the handler's place
// (use_awaitable, use_future, deferred), and a handler keeps everything associated with it, such as its
// executor and its cancellation slot. With older versions a handler keeps only its executor. Includes
// async_result.hpp and associator.hpp of Asio where they exist.
// Threads: those of the source; Asio frees a handler's memory in the thread that runs the handler.
#pragma once
#include <type_traits>
#include <utility>

#include "tarn/allocator.h"

#if defined(__has_include)
#if __has_include(<asio/async_result.hpp>)
#include <asio/async_result.hpp>
#include <asio/version.hpp>
#endif
#if __has_include(<asio/associator.hpp>)
#include <asio/associator.hpp>
#define TARN_ASIO_HAS_ASSOCIATOR 1
#endif
#if __has_include(<boost/asio/async_result.hpp>)
#include <boost/asio/async_result.hpp>
#include <boost/asio/version.hpp>
#endif
#if __has_include(<boost/asio/associator.hpp>)
#include <boost/asio/associator.hpp>
#define TARN_BOOST_ASIO_HAS_ASSOCIATOR 1
#endif
#endif

namespace TARN_NAMESPACE {
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
  using allocator_type = allocator_for<void*, Source>;  // Asio rebinds it to its own type

  AllocatedHandler(Handler handler, allocator_type source)
      : handler_(std::move(handler)), allocator_(source) {}

  allocator_type get_allocator() const noexcept { return allocator_; }
  auto get_executor() const noexcept requires requires(const Handler& handler) { handler.get_executor(); }
  { return handler_.get_executor(); }

  template <typename... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) {
    return handler_(std::forward<Arguments>(arguments)...);
  }

  /// The handler, or the completion token that stands for one.
  Handler& get() noexcept { return handler_; }
  const Handler& get() const noexcept { return handler_; }

 private:
  Handler handler_;
  TARN_NO_UNIQUE_ADDRESS allocator_type allocator_;
};

namespace detail {

/// The same for the handler that a token makes: Asio treats it as a handler, no longer as a token.
template <typename Handler, typename Source>
struct AllocatedCompletion : AllocatedHandler<Handler, Source> {
  using AllocatedHandler<Handler, Source>::AllocatedHandler;
};

/// Starts an operation for a token: gives the allocator to the handler that the token makes.
template <typename Initiation, typename Source>
struct AllocatedInitiation {
  Initiation initiation;
  TARN_NO_UNIQUE_ADDRESS allocator_for<void*, Source> source;

  template <typename Handler, typename... Arguments>
  decltype(auto) operator()(Handler&& handler, Arguments&&... arguments) && {
    return std::move(initiation)(wrap(std::forward<Handler>(handler)), std::forward<Arguments>(arguments)...);
  }
  template <typename Handler, typename... Arguments>
  decltype(auto) operator()(Handler&& handler, Arguments&&... arguments) const& {
    return initiation(wrap(std::forward<Handler>(handler)), std::forward<Arguments>(arguments)...);
  }
  template <typename Handler>
  auto wrap(Handler&& handler) const {
    return AllocatedCompletion<std::decay_t<Handler>, Source>(std::forward<Handler>(handler), source);
  }
};

}  // namespace detail

/// The handler with memory from the general pool.
template <typename Handler>
[[nodiscard]] auto with_allocator(Handler&& handler) {
  return AllocatedHandler<std::decay_t<Handler>, MemoryPool>(std::forward<Handler>(handler), {});
}

/// The handler with memory from a pool that must outlive the operation.
template <typename Source, typename Handler>
[[nodiscard]] auto with_allocator(Source& source, Handler&& handler) {
  return AllocatedHandler<std::decay_t<Handler>, Source>(std::forward<Handler>(handler), source);
}

}  // namespace TARN_NAMESPACE

// An operation asks the token itself for the result; the handler that the token makes is wrapped.
#define TARN_WRAP_TOKENS(asio)                                                                           \
  template <typename Token, typename Source, typename Signature>                                         \
  class asio::async_result<tarn::AllocatedHandler<Token, Source>, Signature> {                           \
   public:                                                                                               \
    template <typename Initiation, typename... Arguments>                                                \
    static decltype(auto) initiate(Initiation&& initiation, tarn::AllocatedHandler<Token, Source> token, \
                                   Arguments&&... arguments) {                                           \
      return asio::async_initiate<Token, Signature>(                                                     \
          tarn::detail::AllocatedInitiation<std::decay_t<Initiation>, Source>{                           \
              std::forward<Initiation>(initiation), token.get_allocator()},                              \
          token.get(), std::forward<Arguments>(arguments)...);                                           \
    }                                                                                                    \
  };

// Passes on everything that Asio finds associated with the handler, except the allocator.
#define TARN_FORWARD_ASSOCIATIONS(asio, Wrapper)                                               \
  template <template <typename, typename> class Associator, typename Handler, typename Source, \
            typename Default>                                                                  \
  struct asio::associator<Associator, tarn::Wrapper<Handler, Source>, Default> {               \
    using type = typename Associator<Handler, Default>::type;                                  \
    static decltype(auto) get(const tarn::Wrapper<Handler, Source>& handler,                   \
                              const Default& otherwise = Default()) noexcept {                 \
      return Associator<Handler, Default>::get(handler.get(), otherwise);                      \
    }                                                                                          \
  };

#if defined(ASIO_VERSION) && ASIO_VERSION >= 102200
TARN_WRAP_TOKENS(asio)
#endif
#if defined(BOOST_ASIO_VERSION) && BOOST_ASIO_VERSION >= 102200
TARN_WRAP_TOKENS(boost::asio)
#endif
#if defined(TARN_ASIO_HAS_ASSOCIATOR)
TARN_FORWARD_ASSOCIATIONS(asio, AllocatedHandler)
TARN_FORWARD_ASSOCIATIONS(asio, detail::AllocatedCompletion)
#endif
#if defined(TARN_BOOST_ASIO_HAS_ASSOCIATOR)
TARN_FORWARD_ASSOCIATIONS(boost::asio, AllocatedHandler)
TARN_FORWARD_ASSOCIATIONS(boost::asio, detail::AllocatedCompletion)
#endif
#undef TARN_WRAP_TOKENS
#undef TARN_FORWARD_ASSOCIATIONS
#undef TARN_ASIO_HAS_ASSOCIATOR
#undef TARN_BOOST_ASIO_HAS_ASSOCIATOR
