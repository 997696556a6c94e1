// Writes pages for the browser's test: a program of three sites, one of 3,000 with deep stacks, one that
// holds nothing, and one with names that look like markup. Usage: flame_page_samples DIRECTORY
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: flame_page_samples DIRECTORY\n");
    return 2;
  }
  const std::string directory = argv[1];
  write(directory + "/mixed.html", test::make_mixed_profile());
  write(directory + "/large.html", make_large_profile());
  write(directory + "/empty.html", test::make_profile({}));
  write(directory + "/odd.html",
        test::make_profile_of("<b>&\"bad\"</script>", "<img src=x onerror=alert(1)>"));
  return 0;
}
