// Fields are numbered as in profile.proto (github.com/google/pprof, proto/profile.proto).
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observer/files/build_id.h"
#include "observer/text/printable.h"
#include "profile/documents/documents.h"
#include "profile/stacks/json.h"

namespace tarn::profile {
namespace {

/// Protocol buffers, as much as a profile needs: numbers, texts and messages, each behind its field's number.
class ProtoWriter {
 public:
  /// Zeros are left out, as every reader takes what is missing for 0.
  void add_number(unsigned field, std::uint64_t number);
  void add_text(unsigned field, std::string_view text);
  void add_message(unsigned field, const ProtoWriter& message) { add_text(field, message.bytes_); }
  void add_numbers(unsigned field, const std::vector<std::uint64_t>& numbers);
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t number);

  std::string bytes_;
};

constexpr std::uint64_t kVarint = 0, kLengthDelimited = 2;

void ProtoWriter::add_varint(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

void ProtoWriter::add_number(unsigned field, std::uint64_t number) {
  if (number == 0) return;
  add_varint(std::uint64_t{field} << 3 | kVarint);
  add_varint(number);
}

void ProtoWriter::add_text(unsigned field, std::string_view text) {
  add_varint(std::uint64_t{field} << 3 | kLengthDelimited);
  add_varint(text.size());
  bytes_ += text;
}

void ProtoWriter::add_numbers(unsigned field, const std::vector<std::uint64_t>& numbers) {
  ProtoWriter packed;
  for (const std::uint64_t number : numbers) packed.add_varint(number);
  add_text(field, packed.bytes_);
}

namespace profile_field {
enum : unsigned {
  kSampleType = 1,
  kSample,
  kMapping,
  kLocation,
  kFunction,
  kString,
  kTime = 9,
  kDuration,
  kPeriodType,
  kPeriod,
  kComment,
  kDefaultSampleType
};
}  // namespace profile_field

std::string gzipped(const std::string& bytes) {
  constexpr int kGzip = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib could not begin to compress the profile: not enough memory");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib could not compress the profile");
  return packed;
}

class PprofFile {
 public:
  PprofFile() { text(""); }  // text 0 is empty in every profile
  std::string write(const NamedProfile& profile, std::int64_t time_ns);

 private:
  std::uint64_t text(const std::string& content) {
    const auto [entry, is_new] = texts_.try_emplace(content, texts_.size());
    if (is_new) file_.add_text(profile_field::kString, content);
    return entry->second;
  }
  ProtoWriter value_type(const std::string& type, const std::string& unit) {
    ProtoWriter message;
    message.add_number(1, text(type));
    message.add_number(2, text(unit));
    return message;
  }
  void add_mappings(const HeapProfile& raw);
  void add_sample(const NamedStack& stack);
  std::uint64_t location(const Call& call);
  std::uint64_t function(const Frame& frame);

  ProtoWriter file_;
  Rounding roundings_[4];  // of what a sample tells
  std::map<std::string, std::uint64_t> texts_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::map<std::pair<const Location*, std::size_t>, std::uint64_t> locations_;
};

void PprofFile::add_mappings(const HeapProfile& raw) {
  for (std::size_t i = 0; i < raw.modules.size(); ++i) {
    const ProfileModule& module = raw.modules[i];
    ProtoWriter message;
    message.add_number(1, i + 1);
    message.add_number(2, module.start);
    message.add_number(3, module.end);
    message.add_number(4, module.file_offset);
    message.add_number(5, text(observer::printable(module.path)));
    message.add_number(6, text(observer::in_hex(module.build_id)));
    // Functions, files, lines, inlined frames: what is missing here is in no file that a reader could find.
    for (unsigned field = 7; field <= 10; ++field) message.add_number(field, 1);
    file_.add_message(profile_field::kMapping, message);
  }
}

std::uint64_t PprofFile::function(const Frame& frame) {
  const auto [entry, is_new] = functions_.try_emplace({frame.function, frame.file}, functions_.size() + 1);
  if (is_new) {
    ProtoWriter message;
    message.add_number(1, entry->second);
    message.add_number(2, text(frame.function));
    message.add_number(3, text(frame.function));
    message.add_number(4, text(frame.file));
    file_.add_message(profile_field::kFunction, message);
  }
  return entry->second;
}

std::uint64_t PprofFile::location(const Call& call) {
  const auto [entry, is_new] = locations_.try_emplace({call.location, call.skipped}, locations_.size() + 1);
  if (!is_new) return entry->second;
  const Location& location = *call.location;
  ProtoWriter message;
  message.add_number(1, entry->second);
  message.add_number(2, location.module == Location::kNoModule ? 0 : location.module + 1);
  message.add_number(3, location.address == 0 ? 0 : location.address - 1);
  for (const Frame& frame : call.frames()) {
    ProtoWriter line;
    line.add_number(1, function(frame));
    line.add_number(2, frame.line);
    message.add_message(4, line);
  }
  file_.add_message(profile_field::kLocation, message);
  return entry->second;
}

void PprofFile::add_sample(const NamedStack& stack) {
  std::vector<std::uint64_t> locations, values;
  for (std::size_t i = 0; i < stack.calls.size(); ++i) locations.push_back(location(stack.calls[i]));
  const double amounts[] = {stack.allocated.blocks, stack.allocated.bytes, stack.live.blocks,
                            stack.live.bytes};
  for (std::size_t i = 0; i < std::size(amounts); ++i)
    values.push_back(static_cast<std::uint64_t>(roundings_[i](amounts[i])));
  ProtoWriter message;
  message.add_numbers(1, locations);
  message.add_numbers(2, values);
  if (!stack.pool.empty()) {
    ProtoWriter label;
    label.add_number(1, text("pool"));
    label.add_number(2, text(stack.pool));
    message.add_message(3, label);
  }
  file_.add_message(profile_field::kSample, message);
}

std::string PprofFile::write(const NamedProfile& profile, std::int64_t time_ns) {
  constexpr double kNsPerSecond = 1e9, kLongest = 9e9;
  for (const auto& [type, unit] : {std::pair{"alloc_objects", "count"}, std::pair{"alloc_space", "bytes"},
                                   std::pair{"inuse_objects", "count"}, std::pair{"inuse_space", "bytes"}})
    file_.add_message(profile_field::kSampleType, value_type(type, unit));
  add_mappings(profile.raw());
  for (const NamedStack& stack : profile.stacks()) add_sample(stack);
  const double seconds = std::clamp(profile.raw().seconds, 0.0, kLongest);
  file_.add_number(profile_field::kTime, static_cast<std::uint64_t>(time_ns));
  file_.add_number(profile_field::kDuration,
                   seconds == seconds ? static_cast<std::uint64_t>(seconds * kNsPerSecond) : 0);
  file_.add_message(profile_field::kPeriodType, value_type("space", "bytes"));
  file_.add_number(profile_field::kPeriod, profile.raw().interval_bytes);
  for (const std::string& remark : profile.remarks()) file_.add_number(profile_field::kComment, text(remark));
  file_.add_number(profile_field::kDefaultSampleType, text("inuse_space"));
  return gzipped(file_.bytes());
}

}  // namespace

std::string pprof_file(const NamedProfile& profile, std::int64_t time_ns) {
  return PprofFile().write(profile, time_ns);
}

}  // namespace tarn::profile
