#include "profile/documents/pprof.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "hand_made_profile.h"

namespace tarn::profile {
namespace {

/// A message's fields, in the order of the file: a number, or bytes.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string bytes = {};
};

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "a number without an end";
  return 0;
}

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    Field field{.number = static_cast<unsigned>(key >> 3), .value = take_varint(bytes)};
    if ((key & 7) == 2) {
      field.bytes = bytes.substr(0, field.value);
      bytes.remove_prefix(std::min<std::size_t>(field.value, bytes.size()));
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<std::uint64_t> numbers_of(std::string_view packed) {
  std::vector<std::uint64_t> numbers;
  while (!packed.empty()) numbers.push_back(take_varint(packed));
  return numbers;
}

std::string unpacked(const std::string& file) {
  std::string bytes(std::size_t{1} << 20, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

std::vector<std::string> all_of(const std::vector<Field>& fields, unsigned number) {
  std::vector<std::string> found;
  for (const Field& field : fields)
    if (field.number == number) found.push_back(field.bytes);
  return found;
}

std::uint64_t number_of(const std::vector<Field>& fields, unsigned number) {
  for (const Field& field : fields)
    if (field.number == number) return field.value;
  return 0;
}

HeapProfile make_profile_with_module() {
  HeapProfile profile = test::make_mixed_profile();
  profile.modules = {{0x100, 0x180, 0x40, "[jit]", "\x01\xfe"}};
  return profile;
}

TEST(Pprof, ADecoderFindsWhatWasWritten) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 1234567890)));
  const std::vector<std::string> texts = all_of(fields, 6);
  EXPECT_EQ(texts[0], "");
  std::vector<std::string> types;
  for (const std::string& type : all_of(fields, 1))
    types.push_back(texts.at(number_of(fields_of(type), 1)) + "/" + texts.at(number_of(fields_of(type), 2)));
  EXPECT_EQ(types, (std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes",
                                             "inuse_objects/count", "inuse_space/bytes"}));
  EXPECT_EQ(texts.at(number_of(fields, 14)), "inuse_space");
  EXPECT_EQ(number_of(fields, 9), 1234567890u);
  EXPECT_EQ(number_of(fields, 10), 2'000'000'000u);
  EXPECT_EQ(number_of(fields, 12), 1u);
  EXPECT_NE(texts.at(number_of(fields, 13)).find("before the profile was switched on"), std::string::npos);

  const std::vector<Field> mapping = fields_of(all_of(fields, 3).at(0));
  EXPECT_EQ(number_of(mapping, 2), 0x100u);
  EXPECT_EQ(texts.at(number_of(mapping, 5)), "[jit]");
  EXPECT_EQ(texts.at(number_of(mapping, 6)), "01fe");
}

TEST(Pprof, SamplesHaveFourValuesAndTheirPool) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 0)));
  const std::vector<std::string> texts = all_of(fields, 6), samples = all_of(fields, 2);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(numbers_of(all_of(fields_of(samples[0]), 2).at(0)),
            (std::vector<std::uint64_t>{8, 8192, 4, 4096}));
  EXPECT_EQ(numbers_of(all_of(fields_of(samples[3]), 2).at(0)), (std::vector<std::uint64_t>{0, 0, 10, 1000}));
  const std::vector<Field> label = fields_of(all_of(fields_of(samples[2]), 3).at(0));
  EXPECT_EQ(texts.at(number_of(label, 1)), "pool");
  EXPECT_EQ(texts.at(number_of(label, 2)), "fixed pool 3 \"packets;\"");
}

TEST(Pprof, LocationsAreNamedAndSharedByStacks) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 0)));
  const std::vector<std::string> texts = all_of(fields, 6), locations = all_of(fields, 4);
  ASSERT_EQ(locations.size(), 5u);  // 0x101 to 0x103, 0x201 and the older memory
  const std::vector<Field> location = fields_of(locations[0]);
  EXPECT_EQ(number_of(location, 2), 1u);
  EXPECT_EQ(number_of(location, 3), 0x100u);
  const std::uint64_t function = number_of(fields_of(all_of(location, 4).at(0)), 1);
  EXPECT_EQ(texts.at(number_of(fields_of(all_of(fields, 5).at(function - 1)), 2)), "[jit]+0x41");
}

TEST(Pprof, GoReadsIt) {
  if (std::system("go tool pprof -h >/dev/null 2>&1; test $? -le 2 && command -v go >/dev/null") != 0)
    GTEST_SKIP() << "go tool pprof is missing (Debian: apt-get install golang-go)";
  char path[] = "/tmp/tarn-pprof-XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  std::ofstream(path, std::ios::binary) << pprof_file(test::named(make_profile_with_module()), 1);
  std::string text;
  std::FILE* const output = popen(("go tool pprof -top " + std::string(path) + " 2>&1").c_str(), "r");
  char piece[4096];
  while (std::fgets(piece, sizeof piece, output) != nullptr) text += piece;
  EXPECT_EQ(pclose(output), 0);
  std::remove(path);
  EXPECT_NE(text.find("Type: inuse_space"), std::string::npos) << text;
  EXPECT_NE(text.find("[jit]+0x41"), std::string::npos) << text;
  EXPECT_NE(text.find("before the profile was switched on"), std::string::npos) << text;
}

}  // namespace
}  // namespace tarn::profile
