// A heap profile in words: what every writer writes.
//
// The idea: the allocator's own frames are taken off, so that a stack ends where the program asked for
// memory; and what is live from before the profile was switched on is one more stack, so that no document
// forgets it. All its texts are printable.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profile/stacks/skipped_names.h"
#include "profile/symbols/heap_profile.h"
#include "profile/symbols/symbols.h"

namespace tarn::profile {

struct Amount {
  double blocks = 0, bytes = 0;
  double squares = 0;  // of the bytes that each of its samples stands for; 0: it is no estimate

  Amount& operator+=(const Amount& other) {
    blocks += other.blocks;
    bytes += other.bytes;
    squares += other.squares;
    return *this;
  }
};

/// Temporary: of what was allocated, what lived a millisecond at most.
enum class Measure : std::uint8_t { kLive, kAllocated, kTemporary };
/// "live"
const char* name_of(Measure measure);

/// By Measure.
struct Amounts {
  Amount live = {}, allocated = {}, temporary = {};

  const Amount& of(Measure measure) const {
    return measure == Measure::kLive ? live : measure == Measure::kAllocated ? allocated : temporary;
  }
  Amounts& operator+=(const Amounts& other) {
    live += other.live;
    allocated += other.allocated;
    temporary += other.temporary;
    return *this;
  }
};

/// What stands in place of a stack's function where it is older than the profile.
inline constexpr const char* kOlder = "[allocated before the profile was switched on]";

/// A location, without the frames inlined there that are the allocator's.
struct Call {
  const Location* location = nullptr;
  std::size_t skipped = 0;

  std::span<const Frame> frames() const { return std::span(location->frames).subspan(skipped); }
};

/// The calls of a stack, innermost first. \why no list of Call: it would take twice the memory, and a profile
/// may have a million stacks.
struct Calls {
  std::vector<const Location*> locations = {};
  std::size_t skipped = 0;  // of the first one's frames

  std::size_t size() const { return locations.size(); }
  Call operator[](std::size_t i) const { return {locations[i], i == 0 ? skipped : 0}; }
};

struct NamedStack : Amounts {
  Calls calls = {};
  std::string pool = {};  // "" = general pool
  bool is_older = false;  // allocated before the profile was switched on: one call without an address
  // Of what was allocated, what lived a second at most, and what is live.
  double second_bytes = 0, new_live_bytes = 0;
  const std::string* type = nullptr;  // of its objects (element_type.h); nullptr: not known

  /// Innermost first.
  std::vector<Frame> frames() const;
  /// \returns the first frame that is no wrapper of malloc and not of a language's library; where there is no
  /// such frame, the first that is not of a library, or the first one; nullptr: there is none.
  const Frame* site() const;
  /// The wrappers before the site, innermost first.
  std::vector<const Frame*> skipped_wrappers() const;
};

class AllocatorFrames;
class ElementTypes;

class NamedProfile {
 public:
  NamedProfile(HeapProfile profile, const SymbolPlaces& places, const Progress& progress = {},
               const SkippedNames& skipped = {});
  NamedProfile(const NamedProfile&) = delete;
  NamedProfile& operator=(const NamedProfile&) = delete;

  /// As it was taken, but for the addresses of stacks; its texts are not printable.
  const HeapProfile& raw() const { return raw_; }
  const std::string& program() const { return program_; }
  const std::vector<NamedStack>& stacks() const { return stacks_; }
  Amount total(Measure measure) const;
  /// What a reader must know to read the figures right: a sentence each.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Puts a frame behind each stack, where the process begins.
  void put_behind_stacks(const std::string& words);
  /// Adds another process's profile: its stacks and files stay apart from these.
  void add(std::unique_ptr<NamedProfile> other);

 private:
  void add_stack(const ProfileStack& stack, AllocatorFrames& allocator, ElementTypes& types);
  const std::string* kept_type(const std::string& type);
  void add_older();
  void add_remarks();

  HeapProfile raw_;
  Symbols symbols_;
  Location older_;
  std::deque<Location> more_locations_;
  std::string program_;
  std::set<std::string> types_;
  std::vector<NamedStack> stacks_;
  std::vector<std::string> remarks_;
};

/// The stack's calls without the innermost ones that are the allocator's: functions of namespace tarn, malloc
/// and operator new in any module, anything in libtarn*.so, and code of the library's headers that was
/// inlined. A stack of nothing else stays whole.
Calls without_allocator(Calls calls, const HeapProfile& profile);

/// \returns the number of the frame that site() is of a stack. \pre not empty
std::size_t site_of(const std::vector<Frame>& frames);

/// "build.cc:12", the file without its directories; "" where it is not known.
std::string place_in_words(const Frame& frame);
/// "app::build (build.cc:12)"
std::string frame_in_words(const Frame& frame);

/// The frames, outermost first; a pool of its own is one more frame behind the innermost: "[heap 2]".
std::vector<Frame> outermost_first(const NamedStack& stack);

}  // namespace tarn::profile
