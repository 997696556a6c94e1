// The reader of the observer on the memory of a small program, in which the bytes of the input are changes: a
// place, how, and by what. Whatever they are, a snapshot keeps its promises, or an error says why there is
// none.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/program.h"
#include "observer/recorded_memory.h"
#include "observer/snapshot/snapshot.h"
#include "observer/snapshot_promises.h"

namespace tarn::fuzz {
namespace {

using test::RecordedMemory;

const RecordedMemory& small_program() {
  static const RecordedMemory memory = [] {
    std::ifstream file(TARN_SMALL_PROGRAM, std::ios::binary);
    return RecordedMemory::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  }();
  return memory;
}

std::uint64_t word(Program& program) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | program.byte();
  return value;
}

void change(RecordedMemory& memory, Program& program) {
  const unsigned kind = program.byte() % 4;
  const std::size_t place = program.below(memory.size() - 8);
  if (kind == 0) {
    memory.at(place) ^= static_cast<std::byte>(1u << program.byte() % 8);
  } else if (kind == 1) {
    memory.at(place) = static_cast<std::byte>(program.byte());
  } else {
    const observer::Address at = memory.address_of(place) & ~observer::Address{7};
    memory.write(at, kind == 2 ? word(program) : memory.address_of(program.below(memory.size())));
  }
}

void run(Program program) {
  RecordedMemory memory = small_program();
  while (!program.is_over()) change(memory, program);
  try {
    const char* const broken = test::broken_promise(observer::read_snapshot(memory));
    check(broken == nullptr, broken);
  } catch (const observer::ObserveError& error) {
    check(error.what()[0] != '\0', "an error says why there is no snapshot");
  }
}

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::run(tarn::fuzz::Program(data, size));
  return 0;
}
