// What the three memory policies have in common, and what a policy is.
//
// A policy is a type, of which the server has one object. The server is a template of the policy, and nothing
// else differs between `--memory new`, `pmr` and `pools`. Shared by all threads:
//   Buffer             a handle to bytes whose handles are counted; copies may live in different threads
//   make_buffer(n)     a new Buffer of n bytes
//   Chain              Buffers one behind the other, for sendmsg: what waits to be sent to one client
//   Vector<T>          a vector of the process, for queues between threads
//   give_back()        gives free memory to the system as far as the policy can; called when players leave
// Of one thread each:
//   Thread             texts() is a source for strings and containers of any size; bind(f) gives a handler of
//                      asio its memory; give_back() gives back what only this thread can
//   Scratch            a source for what ends at the next begin(), with which each room's tick starts
//   Objects<T>         create(...) and destroy(object)
//   Handles<T>         objects that are named by a Ref<T>, which knows when its object has ended
//   Region             the memory of one room: a source with a budget, which ends as a whole. end(object) is
//                      called just before, for the object that owns all others in it; its destructor may not
//                      run
// A source has allocate(bytes) and deallocate(block, bytes). All throw std::bad_alloc when memory is refused.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace game {

/// Requests for memory that this thread has made, of whichever policy.
inline constinit thread_local std::uint64_t request_count = 0;

inline constexpr std::size_t kScratchBytes = 60 << 10;  // with its header one page of the library

/// The allocator of a standard container over one of a policy's sources.
template <typename T, typename Source>
class AllocatorOver {
 public:
  using value_type = T;

  explicit AllocatorOver(Source& source) noexcept : source_(&source) {}
  template <typename U>
  AllocatorOver(const AllocatorOver<U, Source>& other) noexcept : source_(other.source()) {}

  T* allocate(std::size_t count) {
    ++request_count;
    return static_cast<T*>(source_->allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { source_->deallocate(block, count * sizeof(T)); }

  Source* source() const noexcept { return source_; }
  template <typename U>
  bool operator==(const AllocatorOver<U, Source>& other) const noexcept {
    return source_ == other.source();
  }

 private:
  Source* source_;
};

template <typename Source>
AllocatorOver<char, Source> over(Source& source) {
  return AllocatorOver<char, Source>(source);
}

template <typename T, typename Source>
using VectorOver = std::vector<T, AllocatorOver<T, Source>>;
template <typename T, typename Source>
using ListOver = std::list<T, AllocatorOver<T, Source>>;
template <typename Key, typename T, typename Source>
using MapOver = std::map<Key, T, std::less<Key>, AllocatorOver<std::pair<const Key, T>, Source>>;
template <typename Source>
using StringOver = std::basic_string<char, std::char_traits<char>, AllocatorOver<char, Source>>;

}  // namespace game
