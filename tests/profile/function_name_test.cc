#include "profile/stacks/function_name.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tarn::profile {
namespace {

TEST(FunctionName, IsWhatStandsBeforeTheParameters) {
  EXPECT_EQ(qualified_name("app::build(int)"), "app::build");
  EXPECT_EQ(qualified_name("void tarn::take<int>(std::vector<int>) const"), "tarn::take<int>");
  EXPECT_EQ(qualified_name("main"), "main");
  EXPECT_EQ(qualified_name("app::(anonymous namespace)::f(int)"), "app::(anonymous namespace)::f");
  EXPECT_EQ(qualified_name("std::map<int, void (*)(int)>::at(int const&)"),
            "std::map<int, void (*)(int)>::at");
  EXPECT_EQ(qualified_name("app::f()::{lambda(int)#1}::operator()(int) const"),
            "app::f()::{lambda(int)#1}::operator()");
  EXPECT_EQ(qualified_name("app::Q::get() const::{lambda()#1}::operator()() const"),
            "app::Q::get() const::{lambda()#1}::operator()");
}

TEST(FunctionName, OperatorsMayHoldBrackets) {
  EXPECT_EQ(qualified_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(qualified_name("operator new[](unsigned long)"), "operator new[]");
  EXPECT_EQ(qualified_name("std::ostream& std::operator<< <char>(std::ostream&, char)"),
            "std::operator<< <char>");
  EXPECT_EQ(qualified_name("app::P::operator->() const"), "app::P::operator->");
  EXPECT_EQ(qualified_name("app::my_operator(int)"), "app::my_operator");
}

TEST(FunctionName, BelongsToTheNamespaceThatItBeginsWith) {
  EXPECT_TRUE(is_of_namespace("tarn::internal::refill(int)", "tarn"));
  EXPECT_TRUE(is_of_namespace("void* tarn::take<app::X>()", "tarn"));
  EXPECT_FALSE(is_of_namespace("std::vector<int, tarn::Allocator<int>>::push_back(int)", "tarn"));
  EXPECT_FALSE(is_of_namespace("tarn::X app::make<tarn::X>(tarn::X)", "tarn"));
  EXPECT_FALSE(is_of_namespace("tarnish::f()", "tarn"));
  EXPECT_FALSE(is_of_namespace("app::tarn::f()", "tarn"));
  EXPECT_TRUE(is_of_library("std::vector<int>::push_back(int)"));
  EXPECT_TRUE(is_of_library("__gnu_cxx::new_allocator<int>::allocate(unsigned long)"));
  EXPECT_FALSE(is_of_library("app::std_like()"));
  EXPECT_TRUE(is_of_library("<alloc::vec::Vec<u64> as alloc::vec::spec_from_elem::SpecFromElem>::from_elem"));
  EXPECT_TRUE(is_of_library("__rust_alloc"));
  EXPECT_FALSE(is_of_library("rs::generic_make::<alloc::vec::Vec<u64>>"));
}

TEST(FunctionName, MallocAndItsFamilyAreAllocationCalls) {
  for (const char* const name :
       {"malloc", "calloc", "realloc", "__libc_malloc", "posix_memalign", "aligned_alloc@@GLIBC_2.16",
        "operator new(unsigned long)", "operator new[](unsigned long, std::align_val_t)", "tarn_allocate"})
    EXPECT_TRUE(is_allocation_call(name)) << name;
  for (const char* const name :
       {"my_malloc", "app::malloc(int)", "mallocator", "app::X::operator new(unsigned long)"})
    EXPECT_FALSE(is_allocation_call(name)) << name;
}

TEST(FunctionName, AnyTextHasAName) {
  const std::string signs = "<>(){}[]->:: operator const,&*az";
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(1 + random() % 40, ' ');
    for (char& c : text) c = signs[random() % signs.size()];
    const std::string_view name = qualified_name(text);
    EXPECT_FALSE(name.empty());
    EXPECT_NE(text.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace tarn::profile
