// What each compiler says in its own way: attributes, accesses to memory that other threads see, and some
// instructions. No other header has words that only one compiler knows, but those of the system
// (system.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {

/// Orders, with the numbers of std::memory_order and of the compilers.
inline constexpr int kRelaxed = 0, kAcquire = 2, kRelease = 3, kAcqRel = 4, kSeqCst = 5;

struct Product {
  std::uint64_t low, high;
};

}  // namespace TARN_NAMESPACE::detail

#if !defined(_MSC_VER)

#define TARN_INLINE [[gnu::always_inline]] inline

// Of a hit that is no template: inlined where it is called; its address is that of the library's function.
// \why under -Og g++ refuses to compile a call of an always_inline function that it finds behind a pointer
// when its inlining is over. clang++ does not.
#if defined(TARN_DEFINES_HITS)  // general/hits.cc
#define TARN_HIT [[gnu::used]] TARN_API inline
#elif defined(__clang__)
#define TARN_HIT TARN_INLINE
#else
#define TARN_HIT [[gnu::always_inline, gnu::gnu_inline]] TARN_API inline
#endif

#define TARN_NOINLINE [[gnu::noinline]]
#define TARN_COLD [[gnu::cold]]
#define TARN_NO_UNIQUE_ADDRESS [[no_unique_address]]
#define TARN_MAY_ALIAS [[gnu::may_alias]]
// Compilers load none of these variables with another by one instruction.
#define TARN_KEEP_APART(a, b, c, d) asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))
#if defined(__OPTIMIZE__)
#define TARN_IS_OPTIMISED
#endif
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define TARN_READS_CACHE_ATOMICALLY  // load_cache() in thread_cache.h
#elif defined(__x86_64__)
#define TARN_LOAD_QUIETLY(value, word) /* load_quietly() in handle_slots.h */ \
  asm volatile("mov {%1, %0|%0, %1}" : "=r"(value) : "m"(word))
#endif

namespace TARN_NAMESPACE::detail {

/// The compiler moves no access past it.
TARN_INLINE void signal_fence() { __atomic_signal_fence(kSeqCst); }
/// The same in a loop that fills memory, of which g++ else makes a call.
TARN_INLINE void keep_loop() { asm("" ::: "memory"); }

template <typename T>
TARN_INLINE T atomic_load(const T* at, int order) {
  T value;
  __atomic_load(at, &value, order);
  return value;
}
template <typename T>
TARN_INLINE T atomic_exchange(T* at, T value, int order) {
  T before;
  __atomic_exchange(at, &value, &before, order);
  return before;
}
template <typename T>
TARN_INLINE void atomic_store(T* at, T value, int order) {
  __atomic_store(at, &value, order);
}
template <typename T>
TARN_INLINE T atomic_fetch_add(T* at, T value, int order) {
  return __atomic_fetch_add(at, value, order);
}
template <typename T>
TARN_INLINE T atomic_fetch_sub(T* at, T value, int order) {
  return __atomic_fetch_sub(at, value, order);
}
/// \tparam kMayFail also where the value is the expected one.
template <bool kMayFail, typename T>
TARN_INLINE bool atomic_compare_exchange(T* at, T& expected, T desired, int order, int failed) {
  return __atomic_compare_exchange(at, &expected, &desired, kMayFail, order, failed);
}

[[noreturn]] TARN_INLINE void unreachable() { __builtin_unreachable(); }
TARN_INLINE void prefetch_for_write(const void* at) { __builtin_prefetch(at, 1); }
/// \pre the word is not 0. \why not <bit>: it tests for 0, and has 3,000 lines in g++ 12.
TARN_INLINE constexpr unsigned leading_zeros(std::uint64_t word) {
  return static_cast<unsigned>(__builtin_clzll(word));
}
TARN_INLINE constexpr unsigned trailing_zeros(std::uint64_t word) {
  return static_cast<unsigned>(__builtin_ctzll(word));
}

TARN_INLINE Product product_of(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
}
TARN_INLINE bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& result) {
  return __builtin_mul_overflow(a, b, &result);
}

/// \returns a number that g++ takes for another each time, unless it is a constant. \why the uses of it in a
/// hit then add it in their addresses, as those of clang do, and no instruction does so before.
template <typename Number>
TARN_INLINE Number again(Number number) {
#if !defined(__clang__)
  if (!__builtin_constant_p(number)) asm("" : "+r"(number));
#endif
  return number;
}
/// Sixteen bytes of a block.
using Sixteen [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(16)]] = unsigned long long;

#if defined(__x86_64__)
#define TARN_HAS_VECTORS
using FourNumbers [[gnu::vector_size(16), gnu::may_alias]] = int;
/// Loads each number once, whole. \why assembly: no C++ load of 16 bytes is atomic in its parts.
TARN_INLINE FourNumbers load_four(const void* from) {
  FourNumbers four;
  asm("movdqu %1, %0" : "=x"(four) : "m"(*static_cast<const FourNumbers*>(from)));
  return four;
}
/// Halves of numbers. \why saturated: it keeps the sign, which is all that is asked for.
TARN_INLINE auto halves_of(FourNumbers a, FourNumbers b) { return __builtin_ia32_packssdw128(a, b); }
/// \returns the signs of sixteen halves, the first's in the lowest bit.
template <typename EightHalves>
TARN_INLINE std::uint32_t signs_of(EightHalves a, EightHalves b) {
  return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(__builtin_ia32_packsswb128(a, b)));
}
#endif

}  // namespace TARN_NAMESPACE::detail

#else

#include <intrin.h>

#include <bit>

#define TARN_INLINE __forceinline
#define TARN_HIT TARN_INLINE
#define TARN_NOINLINE __declspec(noinline)
#define TARN_COLD
#define TARN_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#define TARN_KEEP_APART(a, b, c, d) static_cast<void>(0)
#define TARN_READS_CACHE_ATOMICALLY
#if defined(NDEBUG)
#define TARN_IS_OPTIMISED
#endif

namespace TARN_NAMESPACE::detail {

TARN_INLINE void signal_fence() { _ReadWriteBarrier(); }
TARN_INLINE void keep_loop() { signal_fence(); }

template <std::size_t kBytes>
struct Interlocked;
#define TARN_INTERLOCKED(Word_, suffix)                                                                     \
  template <>                                                                                               \
  struct Interlocked<sizeof(Word_)> {                                                                       \
    using Word = Word_;                                                                                     \
    static Word exchange(volatile Word* at, Word value) { return _InterlockedExchange##suffix(at, value); } \
    static Word add(volatile Word* at, Word value) { return _InterlockedExchangeAdd##suffix(at, value); }   \
    static Word compare_exchange(volatile Word* at, Word expected, Word desired) {                          \
      return _InterlockedCompareExchange##suffix(at, desired, expected);                                    \
    }                                                                                                       \
  }
TARN_INTERLOCKED(char, 8);
TARN_INTERLOCKED(short, 16);
TARN_INTERLOCKED(long, );
TARN_INTERLOCKED(long long, 64);
#undef TARN_INTERLOCKED

// On x86-64 each access has the order of an acquire or a release, so only the compiler must be held back.
template <typename T>
TARN_INLINE T atomic_load(const T* at, int) {
  const T value = *static_cast<const volatile T*>(at);
  signal_fence();
  return value;
}
template <typename T>
TARN_INLINE T atomic_exchange(T* at, T value, int) {
  using Words = Interlocked<sizeof(T)>;
  using Word = typename Words::Word;
  return (T)Words::exchange((volatile Word*)at, (Word)value);
}
template <typename T>
TARN_INLINE void atomic_store(T* at, T value, int order) {
  if (order == kSeqCst) {
    atomic_exchange(at, value, order);
    return;
  }
  signal_fence();
  *static_cast<volatile T*>(at) = value;
}
template <typename T>
TARN_INLINE T atomic_fetch_add(T* at, T value, int) {
  using Words = Interlocked<sizeof(T)>;
  using Word = typename Words::Word;
  return (T)Words::add((volatile Word*)at, (Word)value);
}
template <typename T>
TARN_INLINE T atomic_fetch_sub(T* at, T value, int order) {
  return atomic_fetch_add(at, static_cast<T>(T{} - value), order);
}
template <bool kMayFail, typename T>
TARN_INLINE bool atomic_compare_exchange(T* at, T& expected, T desired, int, int) {
  using Words = Interlocked<sizeof(T)>;
  using Word = typename Words::Word;
  const T before = (T)Words::compare_exchange((volatile Word*)at, (Word)expected, (Word)desired);
  const bool is_done = before == expected;
  expected = before;
  return is_done;
}

[[noreturn]] TARN_INLINE void unreachable() { __assume(false); }
TARN_INLINE void prefetch_for_write(const void* at) {
  _mm_prefetch(static_cast<const char*>(at), _MM_HINT_T0);
}
TARN_INLINE constexpr unsigned leading_zeros(std::uint64_t word) {
  return static_cast<unsigned>(std::countl_zero(word));
}
TARN_INLINE constexpr unsigned trailing_zeros(std::uint64_t word) {
  return static_cast<unsigned>(std::countr_zero(word));
}

TARN_INLINE Product product_of(std::uint64_t a, std::uint64_t b) {
  Product product;
  product.low = _umul128(a, b, &product.high);
  return product;
}
TARN_INLINE bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& result) {
  const Product product = product_of(a, b);
  result = product.low;
  return product.high != 0;
}

template <typename Number>
TARN_INLINE Number again(Number number) {
  return number;
}
struct alignas(16) Sixteen {
  unsigned long long halves[2];
  unsigned long long operator[](int half) const { return halves[half]; }
  Sixteen& operator|=(const Sixteen& other) {
    halves[0] |= other.halves[0], halves[1] |= other.halves[1];
    return *this;
  }
};

}  // namespace TARN_NAMESPACE::detail

#endif
