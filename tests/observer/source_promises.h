// What each source promises, whatever it reads: shared by the tests and the fuzz targets of dump files.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "observer/process/source.h"

namespace tarn::test {

/// Reads around an address. \returns the promise that it breaks, nullptr: none.
inline const char* broken_promise_at(const observer::Source& source, observer::Address address) {
  constexpr std::size_t kAsked = 700, kRoom = 800;
  std::vector<unsigned char> bytes(kRoom, 0xa5);
  const std::size_t count = source.read(address, bytes.data(), kAsked);
  if (count > kAsked) return "no more is read than was asked for";
  for (std::size_t i = kAsked; i < kRoom; ++i)
    if (bytes[i] != 0xa5) return "nothing is written behind what was asked for";
  std::vector<unsigned char> again(kRoom, 0x5a);
  if (source.read(address, again.data(), kAsked) != count) return "a second read has as many bytes";
  if (std::memcmp(bytes.data(), again.data(), count) != 0) return "a second read has the same bytes";
  return nullptr;
}

/// The same around each mapping, and of the mappings.
inline const char* broken_promise(const observer::Source& source) {
  observer::Address end = 0;
  for (const observer::Mapping& mapping : source.mappings()) {
    if (mapping.start < end || mapping.end <= mapping.start) return "mappings are sorted and do not overlap";
    end = mapping.end;
    for (const observer::Address address :
         {mapping.start - 8, mapping.start, mapping.start + 300, mapping.end - 8})
      if (const char* const promise = broken_promise_at(source, address)) return promise;
  }
  for (const observer::Address address : {observer::Address{0}, ~observer::Address{0} - 5})
    if (const char* const promise = broken_promise_at(source, address)) return promise;
  return nullptr;
}

}  // namespace tarn::test
