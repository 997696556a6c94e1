// The standard containers over the pools, by short names.
//
//   tarn::vector<int> numbers;                              the general pool
//   tarn::containers<tarn::Heap>::vector<int> scores(heap); another source (allocator.h)
//   tarn::pmr::vector<int> lines(&resource);                any std::pmr::memory_resource; without one the
//                                                           general pool, by a virtual call
//
// Parameters as in the namespace std::pmr. vector, deque, list and forward_list have one: clang before 19
// takes only such for a template <typename> class. A std::hash for strings over the pools is here too.
// Threads, errors: those of the source.
#pragma once
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tarn/allocator.h"
#include "tarn/memory_resource.h"

namespace TARN_NAMESPACE {
namespace detail {

/// The containers with an allocator.
template <template <typename> class Allocator>
struct ContainersWith {
  template <typename T>
  using vector = std::vector<T, Allocator<T>>;
  template <typename T>
  using deque = std::deque<T, Allocator<T>>;
  template <typename T>
  using list = std::list<T, Allocator<T>>;
  template <typename T>
  using forward_list = std::forward_list<T, Allocator<T>>;

  template <typename T, typename Compare = std::less<T>>
  using set = std::set<T, Compare, Allocator<T>>;
  template <typename T, typename Compare = std::less<T>>
  using multiset = std::multiset<T, Compare, Allocator<T>>;
  template <typename Key, typename T, typename Compare = std::less<Key>>
  using map = std::map<Key, T, Compare, Allocator<std::pair<const Key, T>>>;
  template <typename Key, typename T, typename Compare = std::less<Key>>
  using multimap = std::multimap<Key, T, Compare, Allocator<std::pair<const Key, T>>>;

  template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
  using unordered_set = std::unordered_set<T, Hash, Equal, Allocator<T>>;
  template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
  using unordered_multiset = std::unordered_multiset<T, Hash, Equal, Allocator<T>>;
  template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
  using unordered_map = std::unordered_map<Key, T, Hash, Equal, Allocator<std::pair<const Key, T>>>;
  template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
  using unordered_multimap = std::unordered_multimap<Key, T, Hash, Equal, Allocator<std::pair<const Key, T>>>;

  template <typename Char, typename Traits = std::char_traits<Char>>
  using basic_string = std::basic_string<Char, Traits, Allocator<Char>>;
  using string = basic_string<char>;
  using wstring = basic_string<wchar_t>;
  using u8string = basic_string<char8_t>;
  using u16string = basic_string<char16_t>;
  using u32string = basic_string<char32_t>;
};

}  // namespace detail

/// The containers over a source; one that is not the general pool is given to each container's constructor.
template <typename Source>
using containers = detail::ContainersWith<detail::AllocatorOver<Source>::template allocator>;

template <typename T>
using vector = containers<MemoryPool>::vector<T>;
template <typename T>
using deque = containers<MemoryPool>::deque<T>;
template <typename T>
using list = containers<MemoryPool>::list<T>;
template <typename T>
using forward_list = containers<MemoryPool>::forward_list<T>;
template <typename T, typename Compare = std::less<T>>
using set = containers<MemoryPool>::set<T, Compare>;
template <typename T, typename Compare = std::less<T>>
using multiset = containers<MemoryPool>::multiset<T, Compare>;
template <typename Key, typename T, typename Compare = std::less<Key>>
using map = containers<MemoryPool>::map<Key, T, Compare>;
template <typename Key, typename T, typename Compare = std::less<Key>>
using multimap = containers<MemoryPool>::multimap<Key, T, Compare>;
template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
using unordered_set = containers<MemoryPool>::unordered_set<T, Hash, Equal>;
template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
using unordered_multiset = containers<MemoryPool>::unordered_multiset<T, Hash, Equal>;
template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
using unordered_map = containers<MemoryPool>::unordered_map<Key, T, Hash, Equal>;
template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
using unordered_multimap = containers<MemoryPool>::unordered_multimap<Key, T, Hash, Equal>;
template <typename Char, typename Traits = std::char_traits<Char>>
using basic_string = containers<MemoryPool>::basic_string<Char, Traits>;
using string = basic_string<char>;
using wstring = basic_string<wchar_t>;
using u8string = basic_string<char8_t>;
using u16string = basic_string<char16_t>;
using u32string = basic_string<char32_t>;

namespace pmr {

template <typename T>
using vector = detail::ContainersWith<polymorphic_allocator>::vector<T>;
template <typename T>
using deque = detail::ContainersWith<polymorphic_allocator>::deque<T>;
template <typename T>
using list = detail::ContainersWith<polymorphic_allocator>::list<T>;
template <typename T>
using forward_list = detail::ContainersWith<polymorphic_allocator>::forward_list<T>;
template <typename T, typename Compare = std::less<T>>
using set = detail::ContainersWith<polymorphic_allocator>::set<T, Compare>;
template <typename T, typename Compare = std::less<T>>
using multiset = detail::ContainersWith<polymorphic_allocator>::multiset<T, Compare>;
template <typename Key, typename T, typename Compare = std::less<Key>>
using map = detail::ContainersWith<polymorphic_allocator>::map<Key, T, Compare>;
template <typename Key, typename T, typename Compare = std::less<Key>>
using multimap = detail::ContainersWith<polymorphic_allocator>::multimap<Key, T, Compare>;
template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
using unordered_set = detail::ContainersWith<polymorphic_allocator>::unordered_set<T, Hash, Equal>;
template <typename T, typename Hash = std::hash<T>, typename Equal = std::equal_to<T>>
using unordered_multiset = detail::ContainersWith<polymorphic_allocator>::unordered_multiset<T, Hash, Equal>;
template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
using unordered_map = detail::ContainersWith<polymorphic_allocator>::unordered_map<Key, T, Hash, Equal>;
template <typename Key, typename T, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
using unordered_multimap =
    detail::ContainersWith<polymorphic_allocator>::unordered_multimap<Key, T, Hash, Equal>;
template <typename Char, typename Traits = std::char_traits<Char>>
using basic_string = detail::ContainersWith<polymorphic_allocator>::basic_string<Char, Traits>;
using string = basic_string<char>;
using wstring = basic_string<wchar_t>;
using u8string = basic_string<char8_t>;
using u16string = basic_string<char16_t>;
using u32string = basic_string<char32_t>;

}  // namespace pmr

namespace detail {

/// The hash of a string's characters, whatever its allocator.
template <typename Char, typename Allocator>
struct StringHash {
  TARN_LOCAL std::size_t operator()(
      const std::basic_string<Char, std::char_traits<Char>, Allocator>& text) const noexcept {
    return std::hash<std::basic_string_view<Char>>()(text);
  }
};

}  // namespace detail
}  // namespace TARN_NAMESPACE

// Of more special types than a standard library that hashes strings of any allocator.
template <>
struct std::hash<std::basic_string<char, std::char_traits<char>, tarn::allocator<char>>>
    : tarn::detail::StringHash<char, tarn::allocator<char>> {};
template <typename Source>
struct std::hash<std::basic_string<char, std::char_traits<char>, tarn::source_allocator<char, Source>>>
    : tarn::detail::StringHash<char, tarn::source_allocator<char, Source>> {};
template <>
struct std::hash<std::basic_string<char, std::char_traits<char>, tarn::pmr::polymorphic_allocator<char>>>
    : tarn::detail::StringHash<char, tarn::pmr::polymorphic_allocator<char>> {};
template <>
struct std::hash<std::basic_string<wchar_t, std::char_traits<wchar_t>, tarn::allocator<wchar_t>>>
    : tarn::detail::StringHash<wchar_t, tarn::allocator<wchar_t>> {};
template <typename Source>
struct std::hash<
    std::basic_string<wchar_t, std::char_traits<wchar_t>, tarn::source_allocator<wchar_t, Source>>>
    : tarn::detail::StringHash<wchar_t, tarn::source_allocator<wchar_t, Source>> {};
template <>
struct std::hash<
    std::basic_string<wchar_t, std::char_traits<wchar_t>, tarn::pmr::polymorphic_allocator<wchar_t>>>
    : tarn::detail::StringHash<wchar_t, tarn::pmr::polymorphic_allocator<wchar_t>> {};
template <>
struct std::hash<std::basic_string<char8_t, std::char_traits<char8_t>, tarn::allocator<char8_t>>>
    : tarn::detail::StringHash<char8_t, tarn::allocator<char8_t>> {};
template <typename Source>
struct std::hash<
    std::basic_string<char8_t, std::char_traits<char8_t>, tarn::source_allocator<char8_t, Source>>>
    : tarn::detail::StringHash<char8_t, tarn::source_allocator<char8_t, Source>> {};
template <>
struct std::hash<
    std::basic_string<char8_t, std::char_traits<char8_t>, tarn::pmr::polymorphic_allocator<char8_t>>>
    : tarn::detail::StringHash<char8_t, tarn::pmr::polymorphic_allocator<char8_t>> {};
template <>
struct std::hash<std::basic_string<char16_t, std::char_traits<char16_t>, tarn::allocator<char16_t>>>
    : tarn::detail::StringHash<char16_t, tarn::allocator<char16_t>> {};
template <typename Source>
struct std::hash<
    std::basic_string<char16_t, std::char_traits<char16_t>, tarn::source_allocator<char16_t, Source>>>
    : tarn::detail::StringHash<char16_t, tarn::source_allocator<char16_t, Source>> {};
template <>
struct std::hash<
    std::basic_string<char16_t, std::char_traits<char16_t>, tarn::pmr::polymorphic_allocator<char16_t>>>
    : tarn::detail::StringHash<char16_t, tarn::pmr::polymorphic_allocator<char16_t>> {};
template <>
struct std::hash<std::basic_string<char32_t, std::char_traits<char32_t>, tarn::allocator<char32_t>>>
    : tarn::detail::StringHash<char32_t, tarn::allocator<char32_t>> {};
template <typename Source>
struct std::hash<
    std::basic_string<char32_t, std::char_traits<char32_t>, tarn::source_allocator<char32_t, Source>>>
    : tarn::detail::StringHash<char32_t, tarn::source_allocator<char32_t, Source>> {};
template <>
struct std::hash<
    std::basic_string<char32_t, std::char_traits<char32_t>, tarn::pmr::polymorphic_allocator<char32_t>>>
    : tarn::detail::StringHash<char32_t, tarn::pmr::polymorphic_allocator<char32_t>> {};
