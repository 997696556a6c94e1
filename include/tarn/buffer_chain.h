// Shared buffers one behind the other, as a stream of bytes: for readv, writev and sendmsg. The bytes are not
// copied; a buffer may be in many chains, and more than once in one.
//
// Invariant: bytes() == the sum of the buffers' sizes; no buffer of a chain is empty.
// Threads: one at a time.
// Errors: append and split throw std::bad_alloc when memory for the list of buffers is refused; the chains
// are then as before (a handle that was moved into append ends). Up to four buffers need no memory; a longer
// list comes from the general pool, also in the scope of a heap. Consuming more bytes than there are stops
// the process with one line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/detail/outside_scopes.h"
#include "tarn/detail/record_seal.h"
#include "tarn/memory_pool.h"
#include "tarn/shared_buffer.h"

#include TARN_HEADER_OF_IOVEC

namespace TARN_NAMESPACE {

namespace detail {

[[noreturn]] TARN_API void stop_at_chain_end(const BufferChain* chain) noexcept;

}  // namespace detail

class BufferChain {
 public:
  BufferChain() noexcept = default;
  TARN_LOCAL BufferChain(BufferChain&& other) noexcept { take(other); }
  TARN_LOCAL BufferChain& operator=(BufferChain&& other) noexcept {
    if (this != &other) {
      end();
      take(other);
    }
    return *this;
  }
  /// The handles of the chain end.
  TARN_LOCAL ~BufferChain() { end(); }
  BufferChain(const BufferChain&) = delete;
  BufferChain& operator=(const BufferChain&) = delete;

  /// Adds a buffer at the end; one of no bytes is dropped. \throws std::bad_alloc. \cost constant on average.
  TARN_LOCAL void append(SharedBuffer buffer) {
    if (!try_append(buffer)) detail::throw_bad_alloc();
  }
  /// Copies bytes to the end: into the last buffer's block, where no other handle refers to it, and what does
  /// not fit into a new buffer of the pool, of the rest or `least` bytes. \throws std::bad_alloc; what was
  /// copied until then stays. \cost a call and the copy; then as allocate_shared().
  /// \tparam Pool BufferPool. \why a template: this header does without the pool's.
  template <typename Pool>
  TARN_LOCAL void append(Pool& pool, const void* bytes, std::size_t count, std::size_t least = 0) {
    const auto* next = static_cast<const char*>(bytes);
    const std::size_t fitting = fill_last(next, count);
    next += fitting;
    count -= fitting;
    if (count == 0) return;
    SharedBuffer buffer = pool.allocate_shared(count < least ? least : count);
    if (!buffer) detail::throw_bad_alloc();
    buffer.truncate(count);
    std::memcpy(buffer.data(), next, count);
    append(std::move(buffer));
  }
  /// The same. \returns false when memory is refused: then the buffer is still the caller's. \post else the
  /// caller's handle refers to no buffer.
  [[nodiscard]] TARN_LOCAL bool try_append(SharedBuffer& buffer) noexcept {
    if (buffer.size() == 0) {
      buffer.reset();
      return true;
    }
    if (!make_room(1)) return false;
    push(buffer.take());
    return true;
  }
  /// Moves all buffers of another chain to the end of this one. \throws std::bad_alloc. \cost a step per
  /// buffer of the other.
  TARN_LOCAL void append(BufferChain&& other) {
    if (this == &other) return;
    if (!make_room(other.count_)) detail::throw_bad_alloc();
    for (std::uint32_t i = 0; i < other.count_; ++i) push(other.at(i));
    other.first_ = other.count_ = 0;
    other.bytes_ = 0;
  }

  std::size_t bytes() const noexcept { return bytes_; }
  /// \returns how many buffers there are.
  std::size_t count() const noexcept { return count_; }
  bool is_empty() const noexcept { return count_ == 0; }
  /// \returns a handle to buffer `index`. \pre index < count().
  [[nodiscard]] TARN_LOCAL SharedBuffer operator[](std::size_t index) const noexcept {
    const detail::BufferHandle handle = detail::copy_members(at(static_cast<std::uint32_t>(index)));
    detail::add_reference(handle);
    return SharedBuffer(handle);
  }

  /// Ends the handles of the first bytes, as after a write of so many. Stops the process when the chain has
  /// fewer. \cost a step per buffer that ends.
  TARN_LOCAL void consume(std::size_t bytes) noexcept {
    if (bytes > bytes_) [[unlikely]]
      detail::stop_at_chain_end(this);
    bytes_ -= bytes;
    while (bytes != 0 && bytes >= at(0).size) {
      bytes -= at(0).size;
      detail::end_reference(pop());
    }
    if (bytes != 0) shorten_first(bytes);
  }

  /// Takes the first bytes out of the chain. Stops the process when it has fewer. \returns them; a buffer
  /// that both parts need is in both. \throws std::bad_alloc. \cost a step per buffer that is moved.
  [[nodiscard]] TARN_LOCAL BufferChain split(std::size_t bytes) {
    if (bytes > bytes_) [[unlikely]]
      detail::stop_at_chain_end(this);
    std::uint32_t whole = 0;
    std::size_t rest = bytes;
    while (rest != 0 && rest >= at(whole).size) rest -= at(whole++).size;
    BufferChain front;
    if (!front.make_room(whole + (rest != 0 ? 1 : 0))) detail::throw_bad_alloc();
    for (; whole != 0; --whole) front.push(pop());
    if (rest != 0) {
      detail::BufferHandle part = detail::copy_members(at(0));
      detail::add_reference(part);
      part.size = static_cast<std::uint32_t>(rest);
      front.push(part);
      shorten_first(rest);
    }
    bytes_ -= bytes;
    return front;
  }

  /// Fills up to `most` entries with the first buffers, of at least one byte each. \returns how many there
  /// are: min(count(), most). The entries are valid while these buffers are in the chain.
  TARN_LOCAL std::size_t fill_iovecs(iovec* entries, std::size_t most) const noexcept {
    const std::size_t filled = most < count_ ? most : count_;
    for (std::size_t i = 0; i < filled; ++i) {
      const detail::BufferHandle& handle = at(static_cast<std::uint32_t>(i));
      entries[i] = {handle.data, handle.size};
    }
    return filled;
  }

  /// Copies up to `most` of the first bytes. \returns how many.
  TARN_LOCAL std::size_t copy_to(void* target, std::size_t most) const noexcept {
    std::size_t copied = 0;
    for (std::uint32_t i = 0; i < count_ && copied < most; ++i) {
      const detail::BufferHandle& handle = at(i);
      const std::size_t bytes = handle.size < most - copied ? handle.size : most - copied;
      std::memcpy(static_cast<char*>(target) + copied, handle.data, bytes);
      copied += bytes;
    }
    return copied;
  }

  /// Ends all handles; the chain is empty, and stays usable.
  TARN_LOCAL void clear() noexcept {
    while (count_ != 0) detail::end_reference(pop());
    bytes_ = 0;
  }

 private:
  static constexpr std::uint32_t kInline = 4;

  /// Of a list in a block of the general pool, with a seal: it lies among the program's blocks.
  struct Entry {
    detail::BufferHandle handle;
    std::uint64_t seal;

    TARN_LOCAL std::uint64_t right_seal() const {
      return detail::seal_of(this, detail::word_of(handle.data), detail::word_of(handle.others),
                             std::uint64_t{handle.size} << 32 | handle.offset);
    }
    TARN_LOCAL void set(const detail::BufferHandle& other) {
      handle = detail::copy_members(other);
      seal = right_seal();
    }
  };

  // A ring: its room is a power of two.
  TARN_LOCAL std::uint32_t place_of(std::uint32_t index) const { return (first_ + index) & (room_ - 1); }
  TARN_LOCAL const detail::BufferHandle& at(std::uint32_t index) const {
    if (more_ == nullptr) return few_[place_of(index)];
    const Entry& entry = more_[place_of(index)];
    if (entry.seal != entry.right_seal()) [[unlikely]]
      detail::stop_at_overwritten(&entry);
    return entry.handle;
  }
  TARN_LOCAL void set(std::uint32_t index, const detail::BufferHandle& handle) {
    if (more_ == nullptr)
      few_[place_of(index)] = detail::copy_members(handle);
    else
      more_[place_of(index)].set(handle);
  }

  // Copies up to `count` bytes behind the last buffer. \returns how many.
  TARN_LOCAL std::size_t fill_last(const char* bytes, std::size_t count) {
    if (count_ == 0 || count == 0) return 0;
    detail::BufferHandle last = detail::copy_members(at(count_ - 1));
    if (detail::atomic_load(last.others, detail::kAcquire) != 0)
      return 0;  // another handle may have these bytes
    const std::size_t room = detail::shared_buffer_block_bytes(last) - last.offset - last.size;
    const std::size_t fitting = count < room ? count : room;
    std::memcpy(last.data + last.size, bytes, fitting);
    last.size += static_cast<std::uint32_t>(fitting);
    set(count_ - 1, last);
    bytes_ += fitting;
    return fitting;
  }

  // \pre there is room.
  TARN_LOCAL void push(const detail::BufferHandle& handle) {
    set(count_++, handle);
    bytes_ += handle.size;
  }
  // The count of bytes is the caller's to change. \pre the chain is not empty.
  TARN_LOCAL detail::BufferHandle pop() {
    const detail::BufferHandle handle = detail::copy_members(at(0));
    first_ = place_of(1);
    --count_;
    return handle;
  }
  // \pre bytes < the size of the first buffer.
  TARN_LOCAL void shorten_first(std::size_t bytes) {
    detail::BufferHandle first = detail::copy_members(at(0));
    first.data += bytes;
    first.offset += static_cast<std::uint32_t>(bytes);
    first.size -= static_cast<std::uint32_t>(bytes);
    set(0, first);
  }

  /// \why not from the heap of a HeapScope: the chain may outlive it.
  [[nodiscard]] TARN_LOCAL static Entry* allocate_entries(std::size_t count) {
    const detail::OutsideScopes outside;
    return static_cast<Entry*>(tarn::allocate(count * sizeof(Entry)));
  }

  TARN_LOCAL bool make_room(std::uint32_t more) {
    const std::size_t wanted = std::size_t{count_} + more;
    if (wanted <= room_) return true;
    std::size_t room = room_;
    while (room < wanted) room *= 2;
    if (room > std::size_t{1} << 31) return false;
    auto* const grown = allocate_entries(room);
    if (grown == nullptr) return false;
    for (std::uint32_t i = 0; i < count_; ++i) grown[i].set(at(i));
    tarn::deallocate(more_);
    more_ = grown;
    room_ = static_cast<std::uint32_t>(room);
    first_ = 0;
    return true;
  }

  TARN_LOCAL void end() {
    clear();
    tarn::deallocate(more_);
    more_ = nullptr;
  }
  // \pre this chain has neither handles nor memory.
  TARN_LOCAL void take(BufferChain& other) {
    for (std::uint32_t i = 0; i < kInline; ++i) few_[i] = other.few_[i];
    more_ = std::exchange(other.more_, nullptr);
    room_ = std::exchange(other.room_, kInline);
    first_ = std::exchange(other.first_, 0);
    count_ = std::exchange(other.count_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }

  Entry* more_ = nullptr;  // nullptr: the entries are in few_
  std::uint32_t room_ = kInline;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::size_t bytes_ = 0;
  detail::BufferHandle few_[kInline];
};

}  // namespace TARN_NAMESPACE
