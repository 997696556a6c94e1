// Enough of the standard library to keep a compiler busy for a second.
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>

int main() {
  std::map<std::string, int> counts;
  const std::string text = "the quick brown fox jumps over the lazy dog and the cat";
  const std::regex word("[a-z]+");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) ++counts[at->str()];
  for (const auto& [name, count] : counts) std::cout << name << ' ' << count << '\n';
}
