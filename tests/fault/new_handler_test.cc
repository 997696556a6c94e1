// A failing operator new asks the new_handler, and throws bad_alloc when there is none.
#include <sys/resource.h>

#include "support/child.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

constexpr std::size_t kTooMuch = std::size_t{1} << 47;
int handler_calls = 0;

std::size_t too_much() {
  std::size_t size = kTooMuch;
  asm volatile("" : "+r"(size));
  return size;
}

TEST(NewHandler, WithoutOneBadAllocIsThrown) {
  std::set_new_handler(nullptr);
  EXPECT_THROW(::operator delete(::operator new(too_much())), std::bad_alloc);
  EXPECT_THROW(::operator delete[](::operator new[](too_much())), std::bad_alloc);
  EXPECT_THROW(::operator delete (::operator new (too_much(), std::align_val_t{64}), std::align_val_t{64}),
               std::bad_alloc);
  EXPECT_THROW(::operator delete[](::operator new[](too_much(), std::align_val_t{64}), std::align_val_t{64}),
               std::bad_alloc);
}

TEST(NewHandler, WithoutOneTheNothrowFormsGiveNull) {
  std::set_new_handler(nullptr);
  EXPECT_EQ(::operator new(too_much(), std::nothrow), nullptr);
  EXPECT_EQ(::operator new[](too_much(), std::nothrow), nullptr);
  EXPECT_EQ(::operator new (too_much(), std::align_val_t{64}, std::nothrow), nullptr);
  EXPECT_EQ(::operator new[](too_much(), std::align_val_t{64}, std::nothrow), nullptr);
}

void give_up_at_the_third_call() {
  if (++handler_calls == 3) std::set_new_handler(nullptr);
}

TEST(NewHandler, IsCalledUntilItGivesUp) {
  handler_calls = 0;
  std::set_new_handler(give_up_at_the_third_call);
  EXPECT_THROW(::operator delete(::operator new(too_much())), std::bad_alloc);
  EXPECT_EQ(handler_calls, 3);
  handler_calls = 0;
  std::set_new_handler(give_up_at_the_third_call);
  EXPECT_EQ(::operator new(too_much(), std::nothrow), nullptr);
  EXPECT_EQ(handler_calls, 3);
}

void throw_bad_alloc() { throw std::bad_alloc(); }

TEST(NewHandler, MayThrow) {
  std::set_new_handler(throw_bad_alloc);
  EXPECT_THROW(::operator delete(::operator new(too_much())), std::bad_alloc);
  std::set_new_handler(nullptr);
}

TEST(NewHandler, ThatThrowsGivesNullFromTheNothrowForms) {
  std::set_new_handler(throw_bad_alloc);
  const ChildResult result =
      run_in_child([] { return ::operator new(too_much(), std::nothrow) == nullptr ? 0 : 1; });
  EXPECT_TRUE(result.is_success()) << result.describe();
  std::set_new_handler(nullptr);
}

void* reserve_of_memory = nullptr;
void free_the_reserve() {
  if (reserve_of_memory == nullptr) throw std::bad_alloc();
  ::operator delete(reserve_of_memory);
  reserve_of_memory = nullptr;
}

TEST(NewHandler, ThatMakesRoomIsAskedOnceAndTheBlockIsHad) {
  const ChildResult result = run_in_child([] {
    reserve_of_memory = ::operator new(64 * kMiB);
    std::set_new_handler(free_the_reserve);
    const rlimit limit{std::size_t{80} * kMiB, RLIM_INFINITY};
    setrlimit(RLIMIT_DATA, &limit);
    std::vector<void*> blocks;
    while (reserve_of_memory != nullptr) blocks.push_back(::operator new(8 * kMiB));
    return blocks.back() != nullptr ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::test
