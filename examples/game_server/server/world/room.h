// A room: who is in it, what lives in it, and its share of a tick.
//
// All that a room keeps lies in a region of the memory policy: a budget of its own, and one end. When its
// match is over, or its last player has left, the region ends as a whole. A player whom the budget has no
// room for is not let in; what a member asks for beyond it is denied; other rooms do not notice.
//
// A tick walks through: creatures choose whom to follow; creatures and shots move; shots hit; what is gone
// ends; members are sent what they see, in turns, and now and then one list of scores. What a tick needs for
// itself (the grid of cells, lists of what is near) is scratch, which each room's tick begins anew.
//
// Invariant: each member's entity is in entities, and is live until the member has left.
// Threads: the logic thread.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "../../protocol.h"
#include "../../random.h"
#include "../rules.h"
#include "entity.h"
#include "player.h"
#include "post.h"

namespace game {

/// What all rooms use.
template <typename Memory>
struct Stores {
  Memory& memory;
  typename Memory::Thread& thread;
  Post<Memory>& post;
  typename Memory::Scratch scratch{"tick"};
  typename Memory::template Handles<Entity<Memory>> entities{thread, "entities"};
};

template <typename Memory>
class Room {
 public:
  using Member = Player<Memory>;
  using Buffer = typename Memory::Buffer;

  /// \throws std::bad_alloc when the budget is too small even for an empty room
  Room(std::uint16_t number, const Rules& rules, std::uint32_t tick, Stores<Memory>& stores);
  /// Ends the room and its region. \pre there are no members
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  std::uint16_t number() const { return number_; }
  bool is_full() const { return member_count() >= rules_.room_members; }
  std::size_t member_count() const { return inside_->members.size(); }
  bool is_match_over(std::uint32_t tick) const {
    return rules_.match_ticks != 0 && tick - first_tick_ >= rules_.match_ticks;
  }

  /// \throws std::bad_alloc at the budget; the member is in no room then
  void add(Member& member);
  /// Writes the member's character, and leaves what was its to the room's end or frees it.
  void remove(Member& member);
  /// Writes every member's character and forgets the members. \pre the room ends now
  template <typename Visit>
  void end_match(Visit visit_member);

  // Requests of members, which take effect at once:
  void move(Member& member, std::int16_t x, std::int16_t y);
  void shoot(Member& member, std::int16_t speed_x, std::int16_t speed_y);
  /// \throws std::bad_alloc at the budget
  void say(Member& member, std::string_view text);
  /// What is within the radius.
  Buffer view(const Member& member, std::uint32_t sequence, std::uint16_t radius);

  void tick(std::uint32_t tick);

 private:
  using Region = typename Memory::Region;
  using Scratch = typename Memory::Scratch;
  using Figure = Entity<Memory>;
  using Nearby = VectorOver<Figure*, Scratch>;
  using Grid = VectorOver<Nearby, Scratch>;

  /// What lies in the region. \invariant it owns nothing else, so the region may end without it.
  struct Inside {
    VectorOver<Member*, Region> members;
    VectorOver<Figure*, Region> entities;
    ListOver<StringOver<Region>, Region> lines;  // the last that were said

    explicit Inside(Region& region) : members(over(region)), entities(over(region)), lines(over(region)) {}
  };

  static constexpr std::int32_t kSide = 2048;
  static constexpr std::int32_t kCellSide = 128;
  static constexpr std::int32_t kCellsPerSide = kSide / kCellSide;
  static constexpr std::int32_t kHitRadius = 24;
  static constexpr std::uint32_t kTicksPerShot = 20;
  static constexpr std::uint32_t kTicksPerSnapshot = 24;  // ten times a second at 240 ticks
  static constexpr std::uint32_t kTicksPerScores = 120;
  static constexpr std::uint32_t kTicksPerChoice = 16;
  static constexpr std::size_t kMostSeen = 32;
  static constexpr std::size_t kLinesKept = 32;

  Inside* make_inside();
  Figure* spawn(EntityKind kind, std::int32_t x, std::int32_t y);
  void spawn_creature();
  void choose_prey(const Grid& grid);
  Figure* nearest_player(const Figure& creature, const Grid& grid);
  void simulate();
  void move_on(Figure& entity);
  Grid grid_of_entities();
  void hit(Grid& grid);
  void damage(Figure& shot, Figure& victim);
  void end_gone();
  template <typename Visit>
  static void for_each_near(const Figure& of, const Grid& grid, Visit visit);
  void send_snapshots(const Grid& grid);
  Nearby seen_by(const Figure& viewer, const Grid& grid);
  void send_snapshot(const Member& member, const Nearby& seen);
  void send_scores();
  void send_to_all(const Buffer& packet);
  void write_character(Member& member);
  /// \throws std::bad_alloc at the budget, nothing is changed
  void read_character(Member& member);
  void end_character(Member& member);
  void let_go(Member& member);

  static std::int32_t clamped(std::int32_t place) { return std::clamp(place, 0, kSide - 1); }
  static std::size_t cell_of(std::int32_t x, std::int32_t y) {
    return static_cast<std::size_t>(y / kCellSide * kCellsPerSide + x / kCellSide);
  }

  const std::uint16_t number_;
  const Rules rules_;
  const std::uint32_t first_tick_;
  Stores<Memory>& stores_;
  Random random_;
  Region region_;
  Inside* const inside_;
  std::uint32_t next_entity_ = 1;
  std::uint32_t tick_ = 0;
};

}  // namespace game

#include "room_members.h"
#include "room_tick.h"
