// The addresses of the library's records, for dumps that hold no more than what they are told.
//
// Threads: any, also in a signal handler, at any moment: all that is read is constant or atomic.
#include <elf.h>
#include <link.h>

#include "base/units.h"
#include "central/slabs/slab_owner.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "tarn/observe.h"
#include "thread/registry.h"

// The linker's: the start of the file that the library is in, as it lies in memory. Without it, what the
// headers would tell is missing.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace tarn::internal {
namespace {

struct Visitor {
  void (*visit)(const void* start, std::size_t bytes, void* context);
  void* context;

  void operator()(const void* start, const void* end) const {
    if (start < end)
      visit(start, static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(start)),
            context);
  }
};

/// The file that the library is in, as it lies in memory.
class LoadedFile {
 public:
  LoadedFile() {
    for (const ElfW(Phdr) & header : *this)
      if (header.p_type == PT_LOAD && header.p_offset == 0) shift_ = address_of(start()) - header.p_vaddr;
  }

  const char* start() const { return reinterpret_cast<const char*>(&__ehdr_start); }
  const ElfW(Phdr) * begin() const {
    if (&__ehdr_start == nullptr) return nullptr;
    return reinterpret_cast<const ElfW(Phdr)*>(start() + __ehdr_start.e_phoff);
  }
  const ElfW(Phdr) * end() const {
    return &__ehdr_start == nullptr ? nullptr : begin() + __ehdr_start.e_phnum;
  }

  const char* start_of(const ElfW(Phdr) & header) const {
    return reinterpret_cast<const char*>(header.p_vaddr + shift_);
  }
  const char* end_of(const ElfW(Phdr) & header) const { return start_of(header) + header.p_memsz; }

  bool has_in_data(const char* address) const {
    for (const ElfW(Phdr) & header : *this)
      if (is_data(header) && start_of(header) <= address && address < end_of(header)) return true;
    return false;
  }
  static bool is_data(const ElfW(Phdr) & header) {
    return header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0;
  }

 private:
  std::uintptr_t shift_ = 0;  // from an address in the file to where it lies
};

// The headers, the notes, by which tools find the library, and its data.
void visit_library(const LoadedFile& file, const Visitor& visit) {
  visit(file.start(), file.end());
  for (const ElfW(Phdr) & header : file)
    if (header.p_type == PT_NOTE || LoadedFile::is_data(header))
      visit(file.start_of(header), file.end_of(header));
}

// The first of them lies in the library's data.
void visit_records(const LoadedFile& file, const Visitor& visit) {
  const std::uint32_t count = metadata.range_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    char *const start = metadata.range(i).start, *const end = metadata.range(i).end;
    if (!file.has_in_data(start)) visit(start, end);
  }
  registry.for_each_cache([&](const detail::ThreadCache* cache, std::size_t bytes) {
    visit(cache, reinterpret_cast<const char*>(cache) + bytes);
  });
}

void visit_tables(const Visitor& visit) {
  const std::uint32_t count = page_map.region_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Region& region = page_map.region(i);
    const std::uint32_t chunks = region.committed_chunks;
    visit(region.spans, region.spans + std::size_t{chunks} * kPagesPerChunk);
    visit(reinterpret_cast<const char*>(region.chunks) - region.free_chunks.bytes(), region.chunks + chunks);
  }
}

// The slots of handle pools lie in pages.
void visit_slots(const Visitor& visit) {
  const std::uint32_t count = page_map.region_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Region& region = page_map.region(i);
    const std::size_t pages = std::size_t{region.committed_chunks} * kPagesPerChunk;
    for (std::size_t page = 0; page < pages; ++page) {
      const auto* const span = static_cast<const Span*>(region.spans[page].load(std::memory_order_acquire));
      const SlabOwner* const owner = span != nullptr ? span->owner.load(std::memory_order_acquire) : nullptr;
      const char* const start = region.start + page * kPageBytes;
      if (owner != nullptr && owner->has_slots) visit(start, start + kPageBytes);
    }
  }
}

}  // namespace
}  // namespace tarn::internal

void tarn_visit_metadata_ranges(void (*visit)(const void* start, std::size_t bytes, void* context),
                                void* context) {
  using namespace tarn::internal;
  const Visitor visitor{visit, context};
  const LoadedFile file;
  visit_library(file, visitor);
  visit_records(file, visitor);
  visit_tables(visitor);
  visit_slots(visitor);
}
