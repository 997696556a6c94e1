#include "observer/objects/joined_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "fake_program.h"

namespace tarn::observer::test {
namespace {

/// A source that counts its calls.
class CountingProgram : public Source {
 public:
  explicit CountingProgram(const Source& program) : program_(program) {}
  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    ++calls;
    return program_.read(address, into, bytes);
  }
  std::span<const Mapping> mappings() const override { return program_.mappings(); }
  SourceKind kind() const override { return SourceKind::kCore; }
  int pid() const override { return 0; }
  std::string program() const override { return {}; }

  mutable int calls = 0;

 private:
  const Source& program_;
};

constexpr Address kStart = 0x10'0000;

class Joined : public ::testing::Test {
 protected:
  Joined() : source_(program_) { program_.map(kStart, 4 << 20); }
  auto reader() {
    const auto use = [this](int tag, const std::byte* content, std::size_t bytes) {
      std::memcpy(&words_[tag], content, std::min(bytes, sizeof(Address)));
      used_bytes_ += bytes;
    };
    return JoinedReader<int, decltype(use)>(source_, use);
  }

  FakeProgram program_;
  CountingProgram source_;
  std::map<int, Address> words_;
  std::size_t used_bytes_ = 0;
};

TEST_F(Joined, NeighboursAreReadInOneCallAndEachGetsItsOwnBytes) {
  auto joined = reader();
  for (int i = 0; i < 1000; ++i) {
    program_.write_word(kStart + Address(i) * 48, Address(i));
    joined.want(kStart + Address(i) * 48, 8, i);
  }
  joined.flush();
  EXPECT_EQ(source_.calls, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(words_[i], Address(i));
}

TEST_F(Joined, WhatLiesFarApartIsReadAlone) {
  auto joined = reader();
  for (int i = 0; i < 10; ++i) joined.want(kStart + Address(i) * 65536, 8, i);
  joined.flush();
  EXPECT_EQ(source_.calls, 10);
  EXPECT_EQ(joined.read_bytes(), 80U);
}

TEST_F(Joined, APieceIsNeverLongerThanItsLimit) {
  auto joined = reader();
  for (int i = 0; i < 1024; ++i) joined.want(kStart + Address(i) * 4096, 4096, i);
  joined.flush();
  EXPECT_EQ(source_.calls, 4);
}

TEST_F(Joined, WhatLiesBehindAHoleIsReadAndTheHoleIsTold) {
  const Address second = kStart + (4 << 20) + 8192;
  program_.map(second, 4096);
  program_.write_word(second, 7);
  auto joined = reader();
  joined.want(second - 8192 - 8, 8, 1);
  joined.want(second - 16, 16 + 8, 2);
  joined.want(second, 8, 3);
  joined.flush();
  EXPECT_EQ(words_[3], 7U);
  EXPECT_EQ(joined.unread_bytes(), 16U);
  EXPECT_EQ(used_bytes_, 24U);
}

}  // namespace
}  // namespace tarn::observer::test
