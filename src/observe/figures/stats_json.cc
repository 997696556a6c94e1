// The statistics as JSON: the interface between the library and `tarn run`, and easier to read than
// malloc_info's XML.
#include <cstring>

#include "base/text.h"
#include "general/options/block_source.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "observe/figures/pool_fields.h"
#include "observe/figures/stats.h"
#include "observe/text_writer.h"
#include "os/process/kept_by_runtimes.h"
#include "os/process/process.h"
#include "tarn/version.h"

namespace tarn::internal {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(TextWriter& text) : text_(text) {}

  JsonWriter& number(const char* key, std::uint64_t value) {
    add_key(key);
    text_.add_decimal(value);
    return *this;
  }
  JsonWriter& null(const char* key) { return word(key, "null"); }
  JsonWriter& boolean(const char* key, bool value) { return word(key, value ? "true" : "false"); }
  JsonWriter& string(const char* key, const char* value) {
    add_key(key);
    text_.add('"').add_escaped(value).add('"');
    return *this;
  }
  /// \param key nullptr in a list and for the whole.
  JsonWriter& open(const char* key, char bracket) {
    add_key(key);
    text_.add(bracket);
    is_first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    is_first_ = false;
    text_.add(bracket);
    return *this;
  }

 private:
  JsonWriter& word(const char* key, const char* word) {
    add_key(key);
    text_.add(word);
    return *this;
  }
  void add_key(const char* key) {
    if (!is_first_) text_.add(',');
    is_first_ = false;
    if (key != nullptr) text_.add('"').add(key).add("\":");
  }

  TextWriter& text_;
  bool is_first_ = true;
};

bool is_of_group(const StatField& field, const StatField& first) {
  return std::strcmp(field.group, first.group) == 0;
}

bool is_first_of_group(const StatField& field) {
  for (const StatField* at = kStatFields; at != &field; ++at)
    if (is_of_group(*at, field)) return false;
  return true;
}

void write_group(JsonWriter& json, const Stats& stats, const StatField& first) {
  json.open(first.group, '{');
  for (const StatField& field : kStatFields) {
    if (!is_of_group(field, first)) continue;
    if (field.needs_counted_calls && !stats.are_calls_counted) {
      json.null(field.key);
    } else {
      json.number(field.key, stats.*field.member);
    }
  }
  json.close('}');
}

void write_classes(JsonWriter& json, const Stats& stats) {
  json.open("size_classes", '[');
  for (const ClassUse& use : stats.classes) {
    if (use.slabs == 0 && use.allocations == 0) continue;
    json.open(nullptr, '{');
    for (const ClassField& field : kClassFields)
      if (field.key[0] != '\0') json.number(field.key, use.*field.member);
    json.close('}');
  }
  json.close(']');
}

void write_pool_field(JsonWriter& json, const PoolUse& use, const PoolField& field) {
  const std::size_t value = use.*field.member;
  value == PoolUse::kNoLimit ? json.null(field.key) : json.number(field.key, value);
}

void write_pools(JsonWriter& json) {
  json.open("pools", '[');
  visit_each_pool([&](const PoolUse& use) {
    json.open(nullptr, '{').string("kind", use.kind).string("name", use.name);
    use.parent != nullptr ? json.string("parent", use.parent) : json.null("parent");
    json.number("block_bytes", use.block_bytes);
    for (const PoolField& field : kPoolFields) write_pool_field(json, use, field);
    json.close('}');
  });
  json.close(']');
}

// What the runtimes keep to the last: several words may lead to a block.
class KeptBlocks {
 public:
  void add(const void* address) {
    const std::size_t bytes = bytes_in_general_pool(address);
    if (bytes == 0 || count_ == kMost) return;
    for (unsigned i = 0; i < count_; ++i)
      if (blocks_[i] == address) return;
    blocks_[count_++] = address;
    bytes_ += bytes;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr unsigned kMost = 64;
  const void* blocks_[kMost];
  unsigned count_ = 0;
  std::size_t bytes_ = 0;
};

// No program can free these: they are not among what it has left.
std::uint64_t without_kept_by_runtimes(std::uint64_t live_bytes) {
  KeptBlocks kept;
  os::visit_kept_by_runtimes(
      [](const void* word, void* context) { static_cast<KeptBlocks*>(context)->add(word); }, &kept);
  return live_bytes - (kept.bytes() < live_bytes ? kept.bytes() : live_bytes);
}

}  // namespace

bool write_stats_json(int descriptor) {
  static Stats stats;  // too large for a thread's stack; only the end of the process calls this
  collect_stats(stats);
  stats.live_bytes = without_kept_by_runtimes(stats.live_bytes);
  FileSink file(descriptor);
  TextWriter text(FileSink::write, &file);
  JsonWriter json(text);
  json.open(nullptr, '{').string("tarn", TARN_VERSION_STRING).number("pid", os::process_id());
  json.boolean("malloc_is_ours", malloc_is_ours());
  json.string("size_classes_preset", kSizeClassPresets[configuration.value(Option::kClasses)].name);
  const char* const classes_file = configuration.classes_file();
  classes_file[0] == '\0' ? json.null("size_classes_file") : json.string("size_classes_file", classes_file);
  for (const StatField& field : kStatFields)
    if (is_first_of_group(field)) write_group(json, stats, field);
  write_classes(json, stats);
  write_pools(json);
  json.close('}');
  text.add('\n').flush();
  return file.is_good();
}

namespace {

// If the option stats_file is set, to that name with .PID appended. After the program's own exit handlers, so
// that their calls are counted.
[[gnu::destructor(101)]] void write_stats_file() {
  // The program may never have allocated.
  if (!is_set_up() && os::environment("TARN_STATS_FILE") != nullptr) set_up_once();
  FixedText<600> path;
  if (!add_stats_file(path)) return;
  set_up_once();  // the file may have been named and nothing else done
  path.add('.').add_decimal(os::process_id()).add('\0');
  const int descriptor = os::create_file(path.data());
  if (descriptor < 0) return;
  write_stats_json(descriptor);
  os::close_file(descriptor);
}

}  // namespace
}  // namespace tarn::internal
