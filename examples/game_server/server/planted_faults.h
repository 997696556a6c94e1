// Faults that the server has only when it is told to (--plant), to practise on: docs/look/walk_through.md
// finds each of them in the running server, from outside.
#pragma once
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

namespace game {

enum class PlantedFault : std::uint8_t { kNone, kLeak, kFragmentation, kSlowIo };

/// How long the first IO thread sleeps before each round of packets, with kSlowIo.
inline constexpr int kSlowIoMilliseconds = 30;

/// What somebody wrote, as a moderation log would keep it.
class ChatRecord {
 public:
  explicit ChatRecord(std::string_view text) : text_(text) {}
  virtual ~ChatRecord() = default;
  virtual std::size_t bytes() const { return text_.size(); }

 private:
  std::string text_;
};

class PlantedFaults {
 public:
  explicit PlantedFaults(PlantedFault fault) : fault_(fault) {}

  void on_chat(std::string_view text) {
    if (fault_ == PlantedFault::kLeak) last_record_ = new ChatRecord(text);  // the one before is lost
    if (fault_ == PlantedFault::kFragmentation) note_words(text);
  }

 private:
  static constexpr std::size_t kWordsKept = 300'000, kEachSurvivor = 50;

  // Many short-lived words, among which every fiftieth is kept for ever.
  void note_words(std::string_view text) {
    for (unsigned i = 0; i < 200; ++i) words_.emplace_back(text.substr(0, 20));
    if (words_.size() < kWordsKept) return;
    std::size_t number = 0;
    std::erase_if(words_, [&](const std::string&) { return ++number % kEachSurvivor != 0; });
    kept_.splice(kept_.end(), words_);
  }

  const PlantedFault fault_;
  ChatRecord* last_record_ = nullptr;
  std::list<std::string> words_, kept_;
};

}  // namespace game
