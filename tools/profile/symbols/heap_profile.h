// A heap profile as it was taken in a process: raw addresses, and estimates of what was allocated there.
//
// The idea: whoever takes samples fills this and knows of no file format; whoever writes documents reads it
// and knows of no process. All texts and numbers are another program's and may be forged.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tarn::profile {

struct ProfileStack {
  /// Stands among the addresses where others were left out (src/os/stack/stack_memo.h).
  static constexpr std::uint64_t kLeftOut = 1;
  std::vector<std::uint64_t> addresses;  // return addresses, innermost first
  std::string pool;                      // "" = general pool; else "fixed pool 3 \"packets\"", "heap 2 ..."
  std::uint64_t number = 0;              // that looks know it by
  std::uint64_t samples = 0, live_samples = 0;
  // Estimates: each sample stands for the blocks that it was drawn from.
  double allocated_blocks = 0, allocated_bytes = 0, live_blocks = 0, live_bytes = 0;
  double live_squares = 0;  // of the bytes that each live sample stands for
  // Of what was allocated, what lived a millisecond at most.
  std::uint64_t temporary_samples = 0;
  double temporary_blocks = 0, temporary_bytes = 0;
  double second_bytes = 0;    // the same of a second
  double new_live_bytes = 0;  // of what is live, what was allocated while the profile was on
};

/// What was live at a moment while the profile was on.
struct LiveLook {
  double seconds = 0;                                   // since the start
  double older_bytes = 0;                               // allocated before the profile was switched on
  double other_bytes = 0;                               // of stacks with few
  std::vector<std::pair<std::uint64_t, double>> bytes;  // by the number of their stack, the greatest first
};

/// Live blocks of one requested size.
struct LiveSize {
  std::uint64_t size = 0;  // bytes
  double count = 0;        // an estimate
};

/// A mapping of a file, or a run of them that one load of the file made.
struct ProfileModule {
  std::uint64_t start = 0, end = 0;
  std::uint64_t file_offset = 0;  // of `start`
  std::string path;               // as the kernel names it, " (deleted)" included
  std::string build_id;           // its bytes, as observer::build_id_in returns them; "" = none
  std::uint64_t first_end = 0;    // of the mapping at `start`; 0: it is mapped no more
  bool does_not_answer = false;   // its file system: nothing more is asked of it
};

struct HeapProfile {
  std::uint64_t interval_bytes = 0;        // between two samples, on average; 1 = every block
  std::uint64_t first_interval_bytes = 0;  // the same at the start; 0: it was never changed
  std::string program, library;            // library: the version of its tarn
  int pid = 0;                             // 0 = unknown
  double seconds = 0;                      // how long the profile was on
  std::vector<ProfileStack> stacks;
  std::vector<LiveLook> looks;       // the first one first
  std::vector<LiveSize> live_sizes;  // of the general pool, the smallest first
  std::vector<ProfileModule> modules;
  double older_blocks = 0, older_bytes = 0;  // live, but allocated before the profile was switched on
  std::uint64_t lost_samples = 0;            // there was no room for

  bool has_several_intervals() const {
    return first_interval_bytes != 0 && first_interval_bytes != interval_bytes;
  }
};

}  // namespace tarn::profile
