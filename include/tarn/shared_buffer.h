// A handle to a buffer of a BufferPool: bytes whose references are counted. Copies of a handle refer to the
// same bytes, a slice to a part of them; the last handle that ends frees the buffer to its pool.
//
// A handle is 24 bytes and knows where its buffer's count lies: apart from all blocks, so that no write past
// a packet reaches it (docs/decisions/018-buffer-pools.md). What is counted are the handles beyond the first,
// so a buffer that only ever has one handle costs no write to the count.
//
// Invariant: the count of a live shared buffer + 1 == the handles that refer to it, those in chains too; the
// count of any other block is 0.
// Threads: each handle is for one thread at a time; handles of one buffer may be used, copied and ended in
// different threads. The bytes themselves are the program's to guard.
// Errors: more than 2^31 - 1 references, and a slice beyond the end, stop the process with one line. A handle
// that ends twice is a block that is freed twice: the pool sees it unless the block has been handed out
// again, or its chunk has gone back (docs/safety.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tarn/detail/api.h"
#include "tarn/detail/mutex.h"
#include "tarn/hooks.h"

namespace TARN_NAMESPACE {

class BufferChain;
class BufferPool;

namespace detail {

/// What a SharedBuffer consists of; plain data, for lists of them.
struct BufferHandle {
  char* data = nullptr;
  std::uint32_t* others = nullptr;  // the count of the other handles; nullptr: no buffer
  std::uint32_t size = 0;           // bytes from data on
  std::uint32_t offset = 0;         // of data in the block
};

/// A copy, member by member. \why handles have mostly been stored so a moment ago, and a load of two members
/// at once would wait until the stores are through.
TARN_INLINE BufferHandle copy_members(const BufferHandle& handle) {
  char* data = handle.data;
  std::uint32_t* others = handle.others;
  std::uint32_t size = handle.size, offset = handle.offset;
  TARN_KEEP_APART(data, others, size, offset);
  return {data, others, size, offset};
}
/// Moves a handle out of its place, which refers to no buffer then.
TARN_INLINE BufferHandle take_handle(BufferHandle& place) {
  const BufferHandle handle = copy_members(place);
  place = {};
  return handle;
}

struct BufferHandleAccess;

/// The most handles of one buffer. \why threads that count at one moment do not wrap it before one of them
/// stops the process.
inline constexpr std::uint32_t kMostReferences = 0x7fffffff;

/// Frees a buffer that has no handle.
TARN_API void end_shared_buffer(const BufferHandle& handle) noexcept;
/// \returns the bytes of a buffer's block that may be used: where a checker knows what was asked for, and
/// where the block is malloc's, those up to the handle's end.
TARN_API std::size_t shared_buffer_block_bytes(const BufferHandle& handle) noexcept;
[[noreturn]] TARN_API void stop_at_reference_count(const BufferHandle& handle) noexcept;
[[noreturn]] TARN_API void stop_at_slice(const BufferHandle& handle) noexcept;

TARN_INLINE void add_reference(const BufferHandle& handle) {
  std::uint32_t before = 0;
  if (ProgramGuard::is_needed()) {
    before = atomic_fetch_add(handle.others, 1u, kRelaxed);
  } else {
    before = *handle.others;
    *handle.others = before + 1;
  }
  if (before >= kMostReferences - 1) [[unlikely]]
    stop_at_reference_count(copy_members(handle));
}

TARN_INLINE void end_reference(const BufferHandle& handle) {
  // The only handle needs no exchange: nobody else can copy one.
  if (atomic_load(handle.others, kAcquire) != 0) {
    const std::uint32_t before = atomic_fetch_sub(handle.others, 1u, kAcqRel);
    if (before >= kMostReferences) [[unlikely]]
      stop_at_reference_count(copy_members(handle));
    if (before != 0) return;
    atomic_store(handle.others, 0u, kRelaxed);  // others have ended meanwhile
  }
  profile_deallocation(handle.data - handle.offset);
  end_shared_buffer(copy_members(handle));  // a copy: the handle itself may stay in registers
}

}  // namespace detail

class SharedBuffer {
 public:
  /// Refers to no buffer.
  SharedBuffer() noexcept = default;
  /// \cost an addition; an atomic one once the process has threads.
  TARN_LOCAL SharedBuffer(const SharedBuffer& other) noexcept : handle_(detail::copy_members(other.handle_)) {
    if (handle_.others != nullptr) detail::add_reference(handle_);
  }
  SharedBuffer(SharedBuffer&& other) noexcept : handle_(detail::take_handle(other.handle_)) {}
  TARN_LOCAL SharedBuffer& operator=(const SharedBuffer& other) noexcept {
    return *this = SharedBuffer(other);
  }
  TARN_LOCAL SharedBuffer& operator=(SharedBuffer&& other) noexcept {
    const detail::BufferHandle taken = other.take();  // first: it may be this one
    reset();
    handle_ = detail::copy_members(taken);
    return *this;
  }
  /// The last handle's end frees the buffer.
  TARN_LOCAL ~SharedBuffer() {
    if (handle_.others != nullptr) detail::end_reference(handle_);
  }

  TARN_LOCAL void swap(SharedBuffer& other) noexcept { std::swap(handle_, other.handle_); }
  TARN_LOCAL void reset() noexcept {
    if (const detail::BufferHandle ended = take(); ended.others != nullptr) detail::end_reference(ended);
  }

  explicit operator bool() const noexcept { return handle_.others != nullptr; }
  /// \returns the handle's bytes, which all handles of the buffer may write; nullptr without a buffer.
  char* data() const noexcept { return handle_.data; }
  /// \returns bytes.
  std::size_t size() const noexcept { return handle_.size; }

  /// A handle is a range of its bytes: std::span(buffer), std::string_view(buffer.begin(), buffer.end()).
  char* begin() const noexcept { return data(); }
  char* end() const noexcept { return data() + size(); }

  /// \returns how many bytes the buffer's block has from data() on; 0 without a buffer. Those behind size()
  /// may be other handles', unless this is the only one. Where a checker watches blocks it is size(): it
  /// follows the handle, and what was truncated cannot be had again. \cost a call.
  TARN_LOCAL std::size_t capacity() const noexcept {
    return handle_.others != nullptr ? detail::shared_buffer_block_bytes(handle_) - handle_.offset : 0;
  }

  /// \returns how many handles the buffer has; 0 without a buffer. Other threads may change it meanwhile,
  /// unless it is 1.
  std::size_t reference_count() const noexcept {
    return handle_.others != nullptr ? std::size_t{1} + detail::atomic_load(handle_.others, detail::kAcquire)
                                     : 0;
  }

  /// \returns another handle, to `bytes` bytes from `first` on. Stops the process when there are fewer.
  [[nodiscard]] TARN_LOCAL SharedBuffer slice(std::size_t first, std::size_t bytes) const noexcept {
    SharedBuffer part(*this);
    part.remove_prefix(first);
    part.truncate(bytes);
    return part;
  }
  /// Takes bytes away from this handle, and no other: the first ones; all but the first `bytes`. Stops the
  /// process when there are fewer.
  TARN_LOCAL void remove_prefix(std::size_t bytes) noexcept {
    if (bytes > handle_.size) [[unlikely]]
      detail::stop_at_slice(handle_);
    handle_.data += bytes;
    handle_.offset += static_cast<std::uint32_t>(bytes);
    handle_.size -= static_cast<std::uint32_t>(bytes);
  }
  /// Adds bytes of the block to the end of this handle. Stops the process when there are fewer.
  TARN_LOCAL void extend(std::size_t bytes) noexcept {
    if (bytes > capacity() - size()) [[unlikely]]
      detail::stop_at_slice(handle_);
    handle_.size += static_cast<std::uint32_t>(bytes);
  }
  TARN_LOCAL void truncate(std::size_t bytes) noexcept {
    if (bytes > handle_.size) [[unlikely]]
      detail::stop_at_slice(handle_);
    handle_.size = static_cast<std::uint32_t>(bytes);
  }

 private:
  friend class BufferChain;
  friend class BufferPool;
  friend struct detail::BufferHandleAccess;

  /// Takes a reference over.
  explicit SharedBuffer(const detail::BufferHandle& handle) noexcept
      : handle_(detail::copy_members(handle)) {}
  TARN_LOCAL detail::BufferHandle take() noexcept { return detail::take_handle(handle_); }

  detail::BufferHandle handle_;
};

TARN_LOCAL inline void swap(SharedBuffer& a, SharedBuffer& b) noexcept { a.swap(b); }

namespace detail {

/// Gives tests access to a handle's parts.
struct BufferHandleAccess {
  static BufferHandle& handle(SharedBuffer& buffer) { return buffer.handle_; }
};

}  // namespace detail

}  // namespace TARN_NAMESPACE
