#include "observe/leaks/leak_roots.h"

#include <algorithm>

#include "base/leak_rules.h"
#include "observe/descriptor.h"
#include "observe/profile/samples.h"
#include "os/memory/mappings.h"
#include "page/memory/memory_limit.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

// Memory without a file that can only be read was written before.
bool may_hold_pointers(const os::Mapping& mapping) {
  return mapping.is_readable && (mapping.is_writable || mapping.path.empty()) &&
         !is_mapped_device(mapping.path);
}

}  // namespace

bool NotRoots::begin() { return ranges_.reserve(kMost); }

// All but what the program may have nowhere else: the context of its callback.
void NotRoots::add_data(os::AddressRange range) {
  const std::uintptr_t kept = address_of(&memory_limit), end = kept + sizeof memory_limit;
  if (range.start <= kept && end <= range.end) {
    add({range.start, kept});
    range.start = end;
  }
  add(range);
}

void NotRoots::add_library(const LoadedModules& modules) {
  const LoadedModule* const file = modules.find(address_of(&samples));
  if (file != nullptr && is_of_library(*file)) {
    add_data({file->start, file->end});
  } else {
    const ObserveDescriptor& descriptor = tarn_observe_descriptor;
    for (const ObservedRoot* root = descriptor.roots; root != descriptor.roots + descriptor.root_count;
         ++root)
      add_data({address_of(root->address), address_of(root->address) + root->bytes});
  }
  for (os::AddressRange next{0, 0}; (next = os::next_reserve(next.end)).start != SIZE_MAX;) add(next);
  for (std::uint32_t i = 0; i < metadata.range_count(); ++i)
    add({address_of(metadata.range(i).start), address_of(metadata.range(i).end)});
  samples.visit_memory([this](std::uintptr_t start, std::uintptr_t end) { add({start, end}); });
}

void NotRoots::sort() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const os::AddressRange& a, const os::AddressRange& b) { return a.start < b.start; });
}

bool scan_roots(Reachability& reach, const NotRoots& not_roots, std::uintptr_t stack_pointer) {
  os::visit_words_of_waiting_threads(
      [](std::uintptr_t word, void* to) { static_cast<Reachability*>(to)->consider(word); }, &reach);
  return os::for_each_mapping([&](const os::Mapping& mapping) {
    if (!may_hold_pointers(mapping)) return;
    os::AddressRange range = mapping.range;
    if (mapping.path == "[stack]" && range.start < stack_pointer && stack_pointer < range.end)
      range.start = stack_pointer;
    not_roots.for_each_rest(range, [&](os::AddressRange rest) { reach.scan(rest); });
  });
}

MemoryReader reader_of(os::OwnMemory& memory) {
  return {[](void* context, const os::AddressRange* ranges, unsigned count, char* to) {
            return static_cast<os::OwnMemory*>(context)->read(ranges, count, to);
          },
          [](void* context, os::AddressRange within) {
            return static_cast<os::OwnMemory*>(context)->next_written(within);
          },
          &memory};
}

}  // namespace tarn::internal
