// The statistics as JSON: the contract between the library and `tarn run`, and what malloc_info's readers may
// prefer.
#include "base/text.h"
#include "general/configuration.h"
#include "observe/stats.h"
#include "os/process.h"
#include "tarn/pool_use.h"
#include "tarn/version.h"

namespace tarn::internal {
namespace {

// Appends text and hands it to the file when it is long enough; remembers a failure.
class JsonFile {
 public:
  explicit JsonFile(int descriptor) : descriptor_(descriptor) {}

  JsonFile& text(const char* string) {
    text_.add(string);
    if (text_.length() > kFlushAt) flush();
    return *this;
  }
  JsonFile& number(const char* key, std::uint64_t value) {
    separate();
    text_.add('"').add(key).add("\":").add_decimal(value);
    return *this;
  }
  JsonFile& null(const char* key) {
    separate();
    text_.add('"').add(key).add("\":null");
    return *this;
  }
  JsonFile& string(const char* key, const char* value) {
    separate();
    text_.add('"').add(key).add("\":\"").add(value).add('"');
    return *this;
  }
  JsonFile& open(const char* key, const char* bracket) {
    separate();
    if (key != nullptr) text_.add('"').add(key).add("\":");
    text_.add(bracket);
    is_first_ = true;
    return *this;
  }
  JsonFile& close(const char* bracket) {
    is_first_ = false;
    return text(bracket);
  }
  bool flush() {
    is_good_ = is_good_ && os::write_all(descriptor_, text_.data(), text_.length());
    text_.clear();
    return is_good_;
  }

 private:
  static constexpr std::size_t kFlushAt = 1024;
  void separate() {
    if (!is_first_) text_.add(',');
    is_first_ = false;
  }

  int descriptor_;
  bool is_first_ = true;
  bool is_good_ = true;
  FixedText<2048> text_;
};

std::uint64_t given_bytes(const Stats& stats, unsigned bin) {
  return stats.classes[bin].allocations * class_geometry.of[bin].block_bytes;
}

void write_bytes(JsonFile& json, const Stats& stats) {
  json.open("bytes", "{").number("live", stats.live_bytes);
  if (stats.are_calls_counted) {
    json.number("peak_live", counted_live.peak_bytes.load(std::memory_order_relaxed));
  } else {
    json.null("peak_live");
  }
  json.number("cached", stats.cached_bytes).number("free_in_slabs", stats.free_in_slabs_bytes);
  json.number("free_dirty", stats.pages.dirty_bytes).number("free_clean", stats.pages.clean_bytes);
  json.number("mapped", stats.pages.used_bytes).number("peak_mapped", stats.pages.peak_used_bytes);
  json.number("reserved", stats.pages.reserved_bytes).number("metadata", stats.metadata_bytes);
  json.number("resident", stats.resident_bytes).close("}");
}

void write_calls(JsonFile& json, const Stats& stats) {
  std::uint64_t allocations = stats.large_calls.allocations, deallocations = stats.large_calls.deallocations;
  std::uint64_t requested = stats.large_calls.requested_bytes, given = requested;
  for (unsigned bin = 1; bin < kClassCount; ++bin) {
    allocations += stats.classes[bin].allocations;
    deallocations += stats.classes[bin].deallocations;
    requested += stats.classes[bin].requested_bytes;
    given += given_bytes(stats, bin);
  }
  json.open("calls", "{").number("allocate", allocations).number("deallocate", deallocations);
  json.number("reallocate", stats.large_calls.reallocations);
  json.number("requested_bytes", requested).number("given_bytes", given).close("}");
}

void write_classes(JsonFile& json, const Stats& stats) {
  json.open("size_classes", "[");
  for (unsigned bin = 1; bin < kClassCount; ++bin) {
    const ClassUse& use = stats.classes[bin];
    if (use.slabs == 0 && use.allocations == 0) continue;
    json.open(nullptr, "{")
        .number("block_bytes", class_geometry.of[bin].block_bytes)
        .number("slabs", use.slabs);
    json.number("slab_bytes", use.slab_bytes);
    json.number("live_blocks", use.live_blocks).number("cached_blocks", use.cached_blocks);
    json.number("allocate", use.allocations).number("requested_bytes", use.requested_bytes);
    json.number("given_bytes", given_bytes(stats, bin)).close("}");
  }
  json.close("]");
}

void write_pools(JsonFile& json) {
  json.open("pools", "[");
  for_each_pool(
      [](const PoolUse& use, void* context) {
        JsonFile& out = *static_cast<JsonFile*>(context);
        out.open(nullptr, "{").string("kind", use.kind).string("name", use.name);
        out.number("block_bytes", use.block_bytes).number("live_count", use.live_count);
        out.number("live_bytes", use.live_bytes).number("peak_live_bytes", use.peak_live_bytes);
        out.number("mapped_bytes", use.mapped_bytes).close("}");
      },
      &json);
  json.close("]");
}

}  // namespace

bool write_stats_json(int descriptor) {
  static Stats stats;  // too large for a thread's stack; the only caller is the end of the process
  collect_stats(stats);
  JsonFile json(descriptor);
  json.text("{").string("tarn", TARN_VERSION_STRING).number("pid", os::process_id());
  json.string("size_classes_preset", kSizeClassPresets[configuration.value(Option::kClasses)].name);
  write_bytes(json, stats);
  write_calls(json, stats);
  json.open("events", "{")
      .number("refills", stats.counters.refills)
      .number("flushes", stats.counters.flushes);
  json.number("remote_batches", stats.counters.remote_batches)
      .number("slabs_made", stats.counters.slabs_made);
  json.number("slabs_ended", stats.counters.slabs_ended)
      .number("chunks_committed", stats.pages.chunks_committed);
  json.number("purged_bytes", stats.pages.purged_bytes)
      .number("purge_calls", stats.pages.purge_calls)
      .close("}");
  json.open("threads", "{").number("live", stats.live_threads).number("peak", stats.peak_threads).close("}");
  json.open("large", "{")
      .number("live_count", stats.large.live_count)
      .number("live_bytes", stats.large.live_bytes);
  json.number("allocate", stats.large.allocations).close("}");
  write_classes(json, stats);
  write_pools(json);
  json.close("}").text("\n");
  return json.flush();
}

void write_stats_file() {
  if (configuration.stats_file()[0] == '\0') return;
  FixedText<600> path;
  path.add(configuration.stats_file()).add('.').add_decimal(os::process_id()).add('\0');
  const int descriptor = os::create_file(path.data());
  if (descriptor < 0) return;
  write_stats_json(descriptor);
  os::close_file(descriptor);
}

}  // namespace tarn::internal
