#include "profile/stacks/named_profile.h"

#include <limits>

#include "hand_made_profile.h"
#include "observer/text/words.h"
#include "profile/names/function_name.h"
#include "profile/stacks/element_type.h"
#include "support/prelude.h"

namespace tarn::profile {
namespace {

Location make_location(std::vector<Frame> frames, std::size_t module = Location::kNoModule) {
  Location location;
  location.frames = std::move(frames);
  location.module = module;
  return location;
}

Frame function(const char* name) {
  Frame frame{.function = name};
  frame.role = role_of(frame);
  return frame;
}

TEST(WithoutAllocator, TheSiteIsTheCallerOfMalloc) {
  const Location inner = make_location({function("tarn::internal::refill(int)")}),
                 malloc = make_location({function("malloc")}),
                 operator_new = make_location({function("operator new(unsigned long)")}),
                 vector = make_location({function("std::vector<int>::push_back(int)")}),
                 caller = make_location({function("app::build()")});
  const Calls left = without_allocator({{&inner, &malloc, &operator_new, &vector, &caller}}, {});
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].location, &vector);
}

TEST(WithoutAllocator, AnAllocatorsFrameFurtherOutStays) {
  const Location caller = make_location({function("app::hook()")}),
                 trim = make_location({function("tarn::trim()")});
  EXPECT_EQ(without_allocator({{&caller, &trim}}, {}).size(), 2u);
}

TEST(WithoutAllocator, WhatWasInlinedFromTheLibrarysHeadersGoesAlone) {
  const Location call =
      make_location({{.function = "pop", .file = "/usr/include/tarn/pool.h", .is_inlined = true},
                     {.function = "tarn::Pool::create()", .is_inlined = true},
                     function("app::build()")});
  const Calls left = without_allocator({{&call}}, {});
  ASSERT_EQ(left.size(), 1u);
  ASSERT_EQ(left[0].frames().size(), 1u);
  EXPECT_EQ(left[0].frames()[0].function, "app::build()");
}

TEST(WithoutAllocator, AllOfTheLibrarysOwnFileGoes) {
  HeapProfile profile;
  profile.modules = {{0, 10, 0, "/usr/lib/libtarn.so.0.3", ""}, {10, 20, 0, "/usr/bin/libtarnish", ""}};
  const Location stripped = make_location({function("libtarn.so.0.3+0x12")}, 0),
                 other = make_location({function("libtarnish+0x1")}, 1);
  EXPECT_EQ(without_allocator({{&stripped, &other}}, profile).size(), 1u);
}

TEST(WithoutAllocator, AStackOfNothingElseStaysWhole) {
  const Location malloc = make_location({function("malloc")});
  EXPECT_EQ(without_allocator({{&malloc}}, {}).size(), 1u);
}

TEST(Site, IsTheFirstFrameThatIsNotTheCppLibrarys) {
  EXPECT_EQ(site_of({function("std::a()"), function("__gnu_cxx::b()"), function("app::c()")}), 2u);
  EXPECT_EQ(site_of({function("std::a()")}), 0u);
  EXPECT_EQ(site_of({function("zrealloc_usable"), function("zmalloc"), function("sdsnew")}), 2u);
  EXPECT_EQ(site_of({function("std::a()"), function("app::Alloc<int>::allocate(int)")}), 1u)
      << "nothing else";
}

TEST(NamedProfile, OlderMemoryIsOneMoreStackAndARemark) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  EXPECT_EQ(profile.stacks().size(), 4u);
  EXPECT_TRUE(profile.stacks().back().is_older);
  EXPECT_EQ(profile.total(Measure::kLive).bytes, 4096 + 512 + 48 + 1000);
  EXPECT_EQ(profile.total(Measure::kAllocated).bytes, 2 * (4096 + 512 + 48));
  ASSERT_EQ(profile.remarks().size(), 1u);
  EXPECT_NE(profile.remarks()[0].find("0.98 KiB in 10 blocks"), std::string::npos);
}

TEST(NamedProfile, ForgedFiguresAreZero) {
  ProfileStack stack = test::make_stack({0x1}, -1, std::numeric_limits<double>::quiet_NaN(), "a\033b");
  stack.allocated_bytes = std::numeric_limits<double>::infinity();
  const NamedProfile profile = test::named({stack});
  EXPECT_EQ(profile.total(Measure::kLive).bytes, 0);
  EXPECT_EQ(profile.total(Measure::kLive).blocks, 0);
  EXPECT_EQ(profile.total(Measure::kAllocated).bytes, 0);
  EXPECT_EQ(profile.stacks()[0].pool, "a?b");
}

TEST(NamedProfile, SamplingAndLostSamplesAreTold) {
  HeapProfile profile = test::make_profile({});
  profile.interval_bytes = 524288;
  profile.lost_samples = 3;
  EXPECT_EQ(test::named(profile).remarks().size(), 2u);
}

TEST(Amounts, AreWrittenWithThreeDigits) {
  EXPECT_EQ(observer::short_bytes(512), "512 B");
  EXPECT_EQ(observer::short_bytes(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(observer::change_in_bytes(2048), "+2.00 KiB");
  EXPECT_EQ(observer::change_in_bytes(-12), "-12 B");
  EXPECT_EQ(observer::estimate_in_words(1234567), "1,234,567");
  EXPECT_EQ(observer::estimate_in_words(-123), "-123");
  EXPECT_EQ(observer::counted_estimate(1, "block"), "1 block");
  EXPECT_EQ(observer::share_in_words(1, 0), "0.0 %");
}

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
  EXPECT_EQ(
      qualified_name("std::string std::operator+<char, std::a<char> >(char const*, std::string const&)"),
      "std::operator+<char, std::a<char> >");
  EXPECT_EQ(qualified_name("app::operator new[](unsigned long)"), "app::operator new[]");
  EXPECT_EQ(qualified_name("app::A::operator std::string() const"), "app::A::operator std::string");
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

TEST(FunctionName, TheLastNameIsWithoutSpacesParametersAndArguments) {
  EXPECT_EQ(last_name("void* app::Pool<std::pair<int, a::B>>::take<int>(int) const"), "take");
  EXPECT_EQ(last_name("zmalloc"), "zmalloc");
  EXPECT_EQ(last_name("app::make()::{lambda(int)#1}::operator()(int) const"), "operator()");
  EXPECT_EQ(last_name("(anonymous namespace)::make(int)"), "make");
}

TEST(FunctionName, AProgramsFormsOfMallocAreWrappers) {
  for (const char* const name :
       {"zmalloc", "zrealloc_usable", "sqlite3Realloc", "xstrdup", "app::Arena::allocate(unsigned long)",
        "g_malloc0", "ngx_palloc", "Util::ReAllocate<int>(int*)"})
    EXPECT_TRUE(is_wrapper(name)) << name;
  for (const char* const name : {"main", "app::alloc::make()", "sdsnew", "globalLock", "localLocale",
                                 "app::initialLocation()", "std::vector<app::Alloc>::push_back(app::Alloc)"})
    EXPECT_FALSE(is_wrapper(name)) << name;
}

TEST(FunctionName, ForARowIsWithoutParametersAndLongArguments) {
  EXPECT_EQ(short_name("app::join[abi:cxx11](int, char const*)"), "app::join");
  EXPECT_EQ(short_name("void app::Pool<app::Node>::grow(unsigned long)"), "app::Pool<app::Node>::grow");
  EXPECT_EQ(short_name("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::"
                       "_M_append(char const*, unsigned long)"),
            "std::string::_M_append");
  EXPECT_EQ(
      short_name("std::map<app::LongNameOfAKey, app::LongNameOfAValue>::find(app::LongNameOfAKey const&)"),
      "std::map<…>::find");
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("app::(anonymous namespace)::f(int)"), "app::f");
  EXPECT_EQ(short_name("libx.so+0x12"), "libx.so+0x12");
  EXPECT_EQ(short_name("JS:*render /srv/app/view.js:10:5"), "JS:*render /srv/app/view.js:10:5");
  EXPECT_EQ(short_name("__1"), "__1");
  EXPECT_EQ(short_name("[allocated before the profile was switched on]"),
            "[allocated before the profile was switched on]");
  EXPECT_EQ(short_name("main.(*Server).Serve"), "main.(*Server).Serve");
  EXPECT_EQ(short_name("std::ostream& std::operator<< <char>(std::ostream&, char)"),
            "std::operator<< <char>");
}

TEST(TypeName, IsWithoutWhatTheStandardAdds) {
  EXPECT_EQ(simple_type("std::vector<app::Node, std::allocator<app::Node> >"), "std::vector<app::Node>");
  EXPECT_EQ(simple_type("std::map<int, std::__cxx11::basic_string<char, std::char_traits<char>, "
                        "std::allocator<char> >, std::less<int>, std::allocator<int> >"),
            "std::map<int, std::string>");
  EXPECT_EQ(simple_type("unsigned long"), "unsigned long");
  EXPECT_EQ(simple_type("A<B<"), "A<B<>>") << "any text is one";
}

TEST(TypeName, IsThatOfAConstructor) {
  EXPECT_EQ(class_constructed_by("app::Node::Node(int)"), "app::Node");
  EXPECT_EQ(class_constructed_by("app::Map<int, a::B>::Map()"), "app::Map<int, a::B>");
  EXPECT_EQ(class_constructed_by("app::Node::make()"), "");
  EXPECT_EQ(class_constructed_by("main"), "");
}

TEST(ElementType, IsWhatTheAllocatorIsOf) {
  const std::pair<const char*, const char*> types[] = {
      {"std::__new_allocator<app::Node>::allocate(unsigned long, void const*)", "app::Node"},
      {"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)", "int"},
      {"std::allocator_traits<std::allocator<app::Node> >::allocate(std::allocator<app::Node>&, unsigned "
       "long)",
       "app::Node"},
      {"std::vector<app::Node, std::allocator<app::Node> >::_M_realloc_insert<app::Node>(app::Node&&)",
       "app::Node"},
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned "
       "long&, unsigned long)",
       "std::string"},
      {"std::allocator<std::_Rb_tree_node<std::pair<int const, app::Node> > >::allocate(unsigned long)",
       "tree node of std::pair<int const, app::Node>"},
      {"std::__new_allocator<std::__detail::_Hash_node<std::pair<int const, app::Node>, false> >::allocate("
       "unsigned long, void const*)",
       "hash node of std::pair<int const, app::Node>"},
      {"std::__new_allocator<std::__detail::_Hash_node_base*>::allocate(unsigned long, void const*)",
       "buckets of a hash table"},
      {"std::_MakeUniq<app::Node>::__single_object std::make_unique<app::Node>()", "app::Node"},
      {"std::__new_allocator<std::_Sp_counted_ptr_inplace<app::Quest, std::allocator<void>, "
       "(__gnu_cxx::_Lock_policy)2> >::allocate(unsigned long, void const*)",
       "shared app::Quest"},
      {"tarn::ObjectPool<app::Session>::make<int>(int&&)", "app::Session"},
      {"alloc::raw_vec::RawVec<app::Row>::grow_one", "app::Row"},
      {"alloc::raw_vec::RawVec<T,A>::grow_one", ""},
      {"app::build(std::vector<int>)", ""},
      {"malloc", ""}};
  for (const auto& [function, type] : types) EXPECT_EQ(element_type_in(function), type) << function;
}

TEST(ElementType, OfAStackIsTheInnermostBeforeTheProgramsFunction) {
  const Location operator_new = make_location({function("operator new(unsigned long)")}),
                 characters = make_location(
                     {function("std::__new_allocator<char>::allocate(unsigned long, void const*)")}),
                 string = make_location({function("std::__cxx11::basic_string<char, std::char_traits<char>, "
                                                  "std::allocator<char> >::reserve(unsigned long)")}),
                 program = make_location({function("app::read()")}),
                 nodes = make_location({function("std::vector<app::Node>::resize(unsigned long)")});
  ElementTypes types;
  EXPECT_EQ(types.of({&operator_new, &characters, &string, &program}, 1), "std::string");
  EXPECT_EQ(types.of({&operator_new, &characters, &program, &string}, 1), "char");
  EXPECT_EQ(types.of({&operator_new, &program, &nodes}, 1), "");
  EXPECT_EQ(types.of({&operator_new, &nodes, &program}, 1), "app::Node");
  Frame making = function("app::open()");
  making.makes = "app::Session<std::allocator<int> >";
  const Location makes = make_location({making}), wraps = make_location({function("zmalloc")});
  EXPECT_EQ(types.of({&operator_new, &makes}, 1), "app::Session<std::allocator<int>>");
  EXPECT_EQ(types.of({&operator_new, &wraps, &makes}, 1), "") << "another call of the function's";
  EXPECT_EQ(types.of({&makes, &program}, 0), "");
  const Location stripped = make_location({function("libtarn.so.0.3+0x12")});
  EXPECT_EQ(types.of({&stripped, &nodes, &program}, 1), "app::Node");
}

TEST(ElementType, AnyTextHasOneOrNone) {
  const std::string signs = "<>(){}[],:*& std::allocator<";
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(1 + random() % 60, ' ');
    for (char& c : text) c = signs[random() % signs.size()];
    static_cast<void>(element_type_in(text));
    static_cast<void>(short_name(text));
    static_cast<void>(simple_type(text));
  }
}

TEST(SkippedNames, APatternALineMakesAFunctionAWrapper) {
  const SkippedNames skipped = SkippedNames::parse("# ours\n\n ^app::take\r\nkeep$\n");
  ASSERT_EQ(skipped.patterns.size(), 2u);
  EXPECT_EQ(role_of(function("app::take(int)"), skipped), FrameRole::kWrapper);
  EXPECT_EQ(role_of(function("my_keep"), skipped), FrameRole::kWrapper);
  EXPECT_EQ(role_of(function("an_app::take(int)"), skipped), FrameRole::kProgram);
  EXPECT_EQ(role_of(function("std::keep"), skipped), FrameRole::kLibrary);
  EXPECT_EQ(role_of(function("zmalloc")), FrameRole::kWrapper);
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
