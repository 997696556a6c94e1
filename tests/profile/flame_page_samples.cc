// Writes pages for the browser's test: a program of three sites, one of 3,000 with deep stacks, one that
// holds nothing, and one with names that look like markup. Usage: flame_page_samples DIRECTORY
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "hand_made_profile.h"
#include "profile/documents/documents.h"

namespace {

using namespace tarn::profile;

void write(const std::string& path, HeapProfile profile) {
  std::ofstream(path, std::ios::binary) << flame_page(test::named(std::move(profile)));
}

HeapProfile make_large_profile() {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t depth = 0; depth < 40; ++depth)
      addresses.push_back(0x1000 * (40 - depth) + i % (1 + (40 - depth) * 8));
    stacks.push_back(test::make_stack(addresses, 1, static_cast<double>(1000 + i)));
  }
  return test::make_profile(std::move(stacks));
}

/// A million stacks of 22 to 37 calls, no two the same: a stack's number tells, two bits at each fork, where
/// it goes on. Of four ways from a fork the later ones are asked for less.
HeapProfile make_million_profile() {
  constexpr std::uint64_t kFunctions = 4096, kForks = 10;
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    std::vector<std::uint64_t> calls{0x1000};
    double bytes = 1e9;
    const auto call = [&](std::uint64_t way) {
      calls.push_back(0x1000 + (calls.back() * 5 + 1 + way * 1021) % kFunctions);
    };
    for (std::uint64_t fork = 0; fork < kForks; ++fork) {
      const std::uint64_t way = i >> 2 * fork & 3;
      bytes /= static_cast<double>(2 + way);
      call(way);
      for (std::uint64_t straight = fork == 0 ? 2 + 5 * way : 1; straight > 0; --straight) call(0);
    }
    std::reverse(calls.begin(), calls.end());
    stacks.push_back(test::make_stack(std::move(calls), 1, bytes));
  }
  return test::make_profile(std::move(stacks));
}

HeapProfile with_looks(HeapProfile profile) {
  for (std::size_t i = 0; i < profile.stacks.size(); ++i) profile.stacks[i].number = i + 1;
  for (int look = 0; look <= 10; ++look)
    profile.looks.push_back({look * 1.0, 1000, 0, {{1, 400.0 * look}, {2, 512}}});
  return profile;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: flame_page_samples DIRECTORY\n");
    return 2;
  }
  const std::string directory = argv[1];
  write(directory + "/mixed.html", with_looks(test::make_mixed_profile()));
  write(directory + "/large.html", make_large_profile());
  write(directory + "/million.html", make_million_profile());
  write(directory + "/empty.html", test::make_profile({}));
  write(directory + "/odd.html",
        test::make_profile_of("<b>&\"bad\"</script>", "<img src=x onerror=alert(1)>"));
  return 0;
}
