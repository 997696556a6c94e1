// The statistics as JSON: the interface between the library and `tarn run`, and easier to read than
// malloc_info's XML.
#include <cstring>

#include "base/text.h"
#include "general/configuration.h"
#include "general/setup.h"
#include "observe/stats.h"
#include "os/process.h"
#include "tarn/pool_use.h"
#include "tarn/version.h"

namespace tarn::internal {
namespace {

// Appends text and writes it to the file when there is enough; remembers a failed write.
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

bool is_of_group(const StatField& field, const StatField& first) {
  return std::strcmp(field.group, first.group) == 0;
}

bool is_first_of_group(const StatField& field) {
  for (const StatField* at = kStatFields; at != &field; ++at)
    if (is_of_group(*at, field)) return false;
  return true;
}

void write_group(JsonFile& json, const Stats& stats, const StatField& first) {
  json.open(first.group, "{");
  for (const StatField& field : kStatFields) {
    if (!is_of_group(field, first)) continue;
    if (field.needs_counted_calls && !stats.are_calls_counted) {
      json.null(field.key);
    } else {
      json.number(field.key, stats.*field.member);
    }
  }
  json.close("}");
}

void write_classes(JsonFile& json, const Stats& stats) {
  json.open("size_classes", "[");
  for (const ClassUse& use : stats.classes) {
    if (use.slabs == 0 && use.allocations == 0) continue;
    json.open(nullptr, "{");
    for (const ClassField& field : kClassFields) json.number(field.key, use.*field.member);
    json.close("}");
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
  static Stats stats;  // too large for a thread's stack; only the end of the process calls this
  collect_stats(stats);
  JsonFile json(descriptor);
  json.text("{").string("tarn", TARN_VERSION_STRING).number("pid", os::process_id());
  json.string("size_classes_preset", kSizeClassPresets[configuration.value(Option::kClasses)].name);
  for (const StatField& field : kStatFields)
    if (is_first_of_group(field)) write_group(json, stats, field);
  write_classes(json, stats);
  write_pools(json);
  json.close("}").text("\n");
  return json.flush();
}

void write_stats_file() {
  FixedText<600> path;
  if (!add_stats_file(path)) return;
  set_up_once();  // the file may have been named and nothing else done
  path.add('.').add_decimal(os::process_id()).add('\0');
  const int descriptor = os::create_file(path.data());
  if (descriptor < 0) return;
  write_stats_json(descriptor);
  os::close_file(descriptor);
}

}  // namespace tarn::internal
