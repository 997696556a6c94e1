// The wire format: what is a packet, and that a payload is never read beyond its end.
#include "protocol.h"

#include "support/prelude.h"

namespace game {
namespace {

Framing framing_of(const std::string& bytes) { return next_frame(bytes.data(), bytes.size()).framing; }

TEST(Protocol, APacketIsWholeWithItsLastByte) {
  char packet[16];
  PacketWriter writer(packet, Request::kMove, 8);
  writer.put(std::uint32_t{1});
  writer.put(std::int16_t{2});
  writer.put(std::int16_t{-3});
  ASSERT_EQ(writer.size(), 12u);
  for (std::size_t bytes = 0; bytes < 12; ++bytes)
    EXPECT_EQ(next_frame(packet, bytes).framing, Framing::kPartial) << bytes;
  EXPECT_EQ(next_frame(packet, 12).framing, Framing::kWhole);
  EXPECT_EQ(next_frame(packet, 16).bytes, 12u);
}

TEST(Protocol, ALengthThatCannotBeIsSeenInItsTwoBytes) {
  EXPECT_EQ(framing_of(std::string("\x00\x00", 2)), Framing::kMalformed);
  EXPECT_EQ(framing_of(std::string("\x03\x00", 2)), Framing::kMalformed);
  EXPECT_EQ(framing_of(std::string("\x01\x10", 2)), Framing::kOversized);  // 4097
  EXPECT_EQ(framing_of(std::string("\x00\x10", 2)), Framing::kPartial);    // 4096
  EXPECT_EQ(framing_of(std::string("\xff\xff", 2)), Framing::kOversized);
}

TEST(Protocol, AReaderGivesBackWhatWasWritten) {
  char payload[64];
  PacketWriter writer(payload);
  writer.put(std::uint32_t{0xdeadbeef});
  writer.put(std::int16_t{-5});
  writer.put_bytes("hello", 5);
  PacketReader reader(payload, writer.size());
  EXPECT_EQ(reader.get<std::uint32_t>(), 0xdeadbeefu);
  EXPECT_EQ(reader.get<std::int16_t>(), -5);
  EXPECT_FALSE(reader.is_complete());
  EXPECT_EQ(reader.rest(), "hello");
  EXPECT_TRUE(reader.is_complete());
}

TEST(Protocol, AReaderThatRunsOutGivesZerosAndIsNeverComplete) {
  const char payload[] = {1, 2, 3};
  PacketReader reader(payload, sizeof(payload));
  EXPECT_EQ(reader.get<std::uint32_t>(), 0u);
  EXPECT_FALSE(reader.is_complete());
  EXPECT_EQ(reader.get<std::uint8_t>(), 0u);
  EXPECT_EQ(reader.get_text(1), "");
  EXPECT_EQ(reader.rest(), "");
  EXPECT_FALSE(reader.is_complete());
}

TEST(Protocol, TextForOthersHasNoControlCharactersAndIsNotEmpty) {
  EXPECT_TRUE(is_printable("good morning, G\xc3\xb6ttingen"));
  for (const char* text : {"", "a\nb", "\x1b[31m", "\x7f"}) EXPECT_FALSE(is_printable(text)) << text;
  EXPECT_FALSE(is_printable(std::string_view("\0", 1)));
}

std::string packet_of(Request type, const std::string& payload) {
  std::string packet(kHeaderBytes, '\0');
  static_cast<void>(PacketWriter(packet.data(), type, payload.size()));
  return packet + payload;
}

TEST(Protocol, EachRequestIsWellFormedAtItsOwnLengthOnly) {
  const std::pair<Request, std::size_t> lengths[] = {
      {Request::kJoin, 2},  {Request::kMove, 8}, {Request::kShoot, 8}, {Request::kLook, 6},
      {Request::kLeave, 0}, {Request::kUse, 5},  {Request::kAdmin, 1}};
  for (const auto& [type, right] : lengths)
    for (std::size_t bytes = 0; bytes < 16; ++bytes)
      EXPECT_EQ(is_well_formed(packet_of(type, std::string(bytes, '\0'))), bytes == right)
          << static_cast<int>(type) << " of " << bytes;
  EXPECT_FALSE(is_well_formed(packet_of(Request::kPing, "abc")));
  EXPECT_TRUE(is_well_formed(packet_of(Request::kPing, "abcd and any more")));
  EXPECT_FALSE(is_well_formed(packet_of(Request::kAdmin, "\x03")));
  EXPECT_FALSE(is_well_formed(packet_of(static_cast<Request>(11), "")));
  EXPECT_FALSE(is_well_formed(packet_of(static_cast<Request>(0), "")));
}

}  // namespace
}  // namespace game
