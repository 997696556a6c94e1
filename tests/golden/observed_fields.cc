// Prints what the descriptor tells readers of the process's memory, by name. Names are a format: a tool reads
// the libraries of other versions by them. Where fields lie is no part of it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "observe/descriptor.h"

int main() {
  const tarn::internal::ObserveDescriptor& descriptor = tarn::internal::tarn_observe_descriptor;
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < descriptor.field_count; ++i) {
    const tarn::internal::ObservedField& field = descriptor.fields[i];
    lines.push_back((field.size == 0 ? "constant " : "field ") + std::string(field.name));
  }
  for (std::uint32_t i = 0; i < descriptor.root_count; ++i)
    lines.push_back("root " + std::string(descriptor.roots[i].name));
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}
