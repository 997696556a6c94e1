// The areas of the process's address space, as the kernel lists them in /proc/self/maps.
//
// Threads: any; the list is read a piece at a time while other threads may map and unmap. Nothing allocates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/memory/memory.h"

namespace tarn::internal::os {

struct Mapping {
  AddressRange range;
  bool is_readable, is_writable;
  std::string_view path;  // of a file, or as [stack]; empty: memory without a file
};

/// Reads one line of the list, without its end. \returns false when it is none.
bool parse_mapping(std::string_view line, Mapping& mapping);

/// Calls visit(mapping, context) for each area, by ascending addresses. \returns false when the list cannot
/// be read to its end.
bool visit_mappings(void (*visit)(const Mapping& mapping, void* context), void* context);

template <typename Visit>
bool for_each_mapping(Visit visit) {
  return visit_mappings([](const Mapping& mapping, void* to) { (*static_cast<Visit*>(to))(mapping); },
                        &visit);
}

}  // namespace tarn::internal::os
