// What a player has with it in a room: things, tasks, letters; text for the most part, which ages as it
// plays.
//
// All of it lies in the room's region. When the player leaves, it is written to bytes, as it would be for a
// database or for another server; the next room reads it from there.
// Threads: the logic thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../protocol.h"
#include "../memory/sources.h"
#include "wording.h"

namespace game {

template <typename Memory>
class Character {
 public:
  using Region = typename Memory::Region;
  using Text = StringOver<Region>;

  struct Thing {
    Text name;
    std::uint32_t kind;
    std::uint32_t uses_left;
    std::uint32_t bonuses[4];

    Thing(Text called, std::uint32_t of_kind, std::uint32_t uses)
        : name(std::move(called)),
          kind(of_kind),
          uses_left(uses),
          bonuses{kind % 7, kind % 5, kind % 3, kind % 2} {}
  };
  struct Task {
    Text title;
    Text text;
    std::uint16_t done;
    std::uint16_t goal;
  };
  struct Letter {
    Text sender;
    Text subject;
    Text body;
  };

  /// One that is new to the game. \throws std::bad_alloc when the room's budget does not allow for it
  Character(Region& region, std::uint32_t player);
  /// One that was written before. \throws std::bad_alloc
  Character(Region& region, std::uint32_t player, std::string_view written);

  /// \returns how many bytes write() writes.
  std::size_t written_bytes() const;
  void write(PacketWriter& writer) const;

  struct Use {
    std::uint32_t kind;
    std::uint32_t uses_left;
  };
  /// Uses a thing; one that is used up makes way for a new find. \throws std::bad_alloc, nothing is changed
  Use use(std::size_t number);
  /// A step of one task; a task that is done makes way for another. \throws std::bad_alloc
  void progress();
  /// The oldest letter makes way for it. \throws std::bad_alloc
  void receive(std::string_view sender, std::string_view subject);

  std::size_t thing_count() const { return things_.size(); }
  std::size_t letter_count() const { return letters_.size(); }

 private:
  static constexpr int kMostTasks = 8;
  static constexpr std::size_t kMostLetters = 10;
  static constexpr std::uint16_t kTaskGoal = 12;

  Text text(std::string_view words) { return Text(words, over(region_)); }
  Thing find();
  Task next_task();
  static void put(PacketWriter& writer, std::string_view text) {
    writer.put(static_cast<std::uint16_t>(text.size()));
    writer.put_bytes(text.data(), text.size());
  }
  Text get(PacketReader& reader) { return text(reader.get_text(reader.get<std::uint16_t>())); }

  Region& region_;
  Random random_;
  MapOver<std::uint16_t, Thing, Region> things_;
  VectorOver<Task, Region> tasks_;
  ListOver<Letter, Region> letters_;
};

template <typename Memory>
Character<Memory>::Character(Region& region, std::uint32_t player)
    : region_(region), random_(player), things_(over(region)), tasks_(over(region)), letters_(over(region)) {
  const int things = random_.between(24, 56);
  for (int i = 0; i < things; ++i) things_.emplace(static_cast<std::uint16_t>(i), find());
  tasks_.reserve(kMostTasks);
  for (int i = random_.between(4, kMostTasks); i > 0; --i) tasks_.push_back(next_task());
  for (int i = random_.between(3, 8); i > 0; --i)
    receive(any_of(random_, kPlaces), name_of_thing(random_).text());
}

template <typename Memory>
Character<Memory>::Character(Region& region, std::uint32_t player, std::string_view written)
    : region_(region), random_(player), things_(over(region)), tasks_(over(region)), letters_(over(region)) {
  PacketReader reader(written.data(), written.size());
  random_ = Random(reader.get<std::uint64_t>());
  const auto things = reader.get<std::uint16_t>();
  const auto tasks = reader.get<std::uint16_t>();
  const auto letters = reader.get<std::uint16_t>();
  for (std::uint16_t i = 0; i < things; ++i) {
    Text name = get(reader);
    const auto kind = reader.get<std::uint32_t>();
    things_.emplace_hint(things_.end(), i, Thing(std::move(name), kind, reader.get<std::uint32_t>()));
  }
  tasks_.reserve(tasks);
  for (std::uint16_t i = 0; i < tasks; ++i)
    tasks_.push_back({get(reader), get(reader), reader.get<std::uint16_t>(), reader.get<std::uint16_t>()});
  for (std::uint16_t i = 0; i < letters; ++i) letters_.push_back({get(reader), get(reader), get(reader)});
}

template <typename Memory>
std::size_t Character<Memory>::written_bytes() const {
  std::size_t bytes = sizeof(std::uint64_t) + 3 * sizeof(std::uint16_t);
  for (const auto& [number, thing] : things_) bytes += 2 + thing.name.size() + 2 * sizeof(std::uint32_t);
  for (const Task& task : tasks_) bytes += 8 + task.title.size() + task.text.size();
  for (const Letter& letter : letters_)
    bytes += 6 + letter.sender.size() + letter.subject.size() + letter.body.size();
  return bytes;
}

template <typename Memory>
void Character<Memory>::write(PacketWriter& writer) const {
  Random next = random_;
  writer.put(next.next());
  for (const std::size_t count : {things_.size(), tasks_.size(), letters_.size()})
    writer.put(static_cast<std::uint16_t>(count));
  for (const auto& [number, thing] : things_) {
    put(writer, thing.name);
    writer.put(thing.kind);
    writer.put(thing.uses_left);
  }
  for (const Task& task : tasks_) {
    put(writer, task.title);
    put(writer, task.text);
    writer.put(task.done);
    writer.put(task.goal);
  }
  for (const Letter& letter : letters_)
    for (const Text* const part : {&letter.sender, &letter.subject, &letter.body}) put(writer, *part);
}

template <typename Memory>
typename Character<Memory>::Thing Character<Memory>::find() {
  const auto kind = static_cast<std::uint32_t>(random_.between(1, 5000));
  const auto uses = static_cast<std::uint32_t>(random_.between(1, 6));
  return {text(name_of_thing(random_).text()), kind, uses};
}

template <typename Memory>
typename Character<Memory>::Task Character<Memory>::next_task() {
  return {text(name_of_thing(random_).text()), text(task(random_).text()), 0, kTaskGoal};
}

template <typename Memory>
typename Character<Memory>::Use Character<Memory>::use(std::size_t number) {
  const auto place = things_.find(static_cast<std::uint16_t>(number % things_.size()));
  Thing& thing = place->second;
  const Use use = {thing.kind, thing.uses_left - 1};
  if (use.uses_left > 0) {
    thing.uses_left = use.uses_left;
    return use;
  }
  thing = find();
  return use;
}

template <typename Memory>
void Character<Memory>::progress() {
  Task& task = tasks_[static_cast<std::size_t>(random_.between(0, static_cast<int>(tasks_.size()) - 1))];
  if (task.done + 1 < task.goal) {
    ++task.done;
    return;
  }
  task = next_task();
}

template <typename Memory>
void Character<Memory>::receive(std::string_view sender, std::string_view subject) {
  letters_.push_back({text(sender), text(subject), text(letter(random_).text())});
  if (letters_.size() > kMostLetters) letters_.pop_front();
}

}  // namespace game
