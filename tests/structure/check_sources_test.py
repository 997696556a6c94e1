"""Each check refuses a small tree that breaks its rule, and lets pass one that does not."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import check_sources as check
import tables

PROJECT = pathlib.Path(sys.argv.pop())


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.project = pathlib.Path(self.folder.name)
        for room in (*tables.FORMATTED, "src/os", "include/tarn/detail"):
            (self.project / room).mkdir(parents=True, exist_ok=True)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text=""):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def refuses(self, faults, *words):
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])


class Circles(Tree):
    def test_two_headers_that_include_each_other(self):
        self.write("src/os/a.h", '#include "os/b.h"\n')
        self.write("src/os/b.h", '#include "os/a.h"\n')
        self.refuses(check.check_circles(self.project, {}), "src/os", "os/a -> os/b -> os/a")

    def test_a_header_and_its_source_are_one(self):
        self.write("src/os/a.h", '#include "os/b.h"\n')
        self.write("src/os/a.cc", '#include "os/a.h"\n')
        self.assertEqual(check.check_circles(self.project, {}), [])
        self.write("src/os/b.h")
        self.write("src/os/b.cc", '#include "os/b.h"\n#include "os/a.h"\n')
        self.refuses(check.check_circles(self.project, {}), "os/a -> os/b -> os/a")

    def test_a_long_circle_is_named_once(self):
        for name, other in ("ab", "bc", "ca", "dc"):
            self.write(f"src/os/{name}.h", f'#include "os/{other}.h"\n')
        self.refuses(check.check_circles(self.project, {}), "os/a -> os/b -> os/c -> os/a")

    def test_public_headers_and_those_behind_them_are_one_room(self):
        self.write("include/tarn/a.h", '#include "tarn/detail/b.h"\n')
        self.write("include/tarn/detail/b.h", '#include "tarn/a.h"\n')
        self.refuses(check.check_circles(self.project, {}), "include/tarn")

    def test_angle_brackets_do_not_count(self):
        self.write("src/os/a.h", "#include <os/b.h>\n")
        self.write("src/os/b.h", '#include "os/a.h"\n')
        self.assertEqual(check.check_circles(self.project, {}), [])

    def test_an_exemption_that_is_no_longer_needed(self):
        self.refuses(check.check_circles(self.project, {"src/os": "why"}), "take it out")


class Rooms(Tree):
    def setUp(self):
        super().setUp()
        self.may_name, tables.MAY_NAME = tables.MAY_NAME, {}

    def tearDown(self):
        tables.MAY_NAME = self.may_name
        super().tearDown()

    def test_what_makes_spans_outside_of_page(self):
        for line in ("span_store.take(0);", "page_map.clear_pages(span, 0, 1);", "background.notice();"):
            self.write("src/os/a.cc", line + "\n")
            self.refuses(check.check_rooms(self.project, {}), "os/a.cc")

    def test_within_page_and_in_comments_it_may_be_named(self):
        self.write("src/page/a.cc", "span_store.take(0);\n")
        self.write("src/os/a.cc", '// span_store\n/* background\n */ f("background"); page_map.find(p);\n')
        self.assertEqual(check.check_rooms(self.project, {}), [])

    def test_exemptions_that_are_no_longer_needed(self):
        self.write("src/os/a.cc")
        self.refuses(check.check_rooms(self.project, {"os/a.cc": "why"}), "take it out")
        self.refuses(check.check_rooms(self.project, {"os/b.cc": "why"}), "is not there")

    def test_a_folder_with_too_many_files_of_its_own(self):
        for folder, most in check.MOST_FILES.items():
            with self.subTest(folder):
                for number in range(most):
                    self.write(f"{folder}/os/a{number}.cc")
                    self.write(f"{folder}/os/locks/b{number}.h")
                self.assertEqual(check.check_rooms(self.project, {}), [])
                self.write(f"{folder}/os/locks/c.cc")
                self.refuses(check.check_rooms(self.project, {}), f"{folder}/os/locks:", f"{most + 1} files")
                (self.project / folder / "os/locks/c.cc").unlink()


class ToolRooms(Tree):
    TABLE = ("# The tools\n## Rooms of the command\n| room | what | may use |\n|---|---|---|\n"
             "| `system/` | a | |\n| `engine/` | b | `system` |\n| `report/` | c | `system` |\n")

    def setUp(self):
        super().setUp()
        self.write("tools/README.md", self.TABLE)
        self.write("tools/tarn/system/a.h")
        self.write("tools/tarn/engine/b.h", '#include "system/a.h"\n#include "engine/b.h"\n')
        self.write("tools/tarn/report/c.h")

    def test_what_the_table_allows(self):
        self.assertEqual(check.check_tool_rooms(self.project), [])

    def test_a_room_that_is_not_named(self):
        self.write("tools/tarn/report/d.cc", '#include "engine/b.h"\n')
        self.refuses(check.check_tool_rooms(self.project), "tools/tarn/report/d.cc", "engine/b.h")

    def test_a_folder_without_a_row(self):
        self.write("tools/tarn/attic/e.h")
        self.refuses(check.check_tool_rooms(self.project), "tools/tarn/attic:", "no row")

    def test_a_row_without_a_folder(self):
        self.write("tools/README.md", self.TABLE + "| `page/` | d | |\n")
        self.refuses(check.check_tool_rooms(self.project), "no room page")

    def test_a_table_whose_order_is_broken(self):
        self.write("tools/README.md", self.TABLE.replace("| a | |", "| a | `engine` |"))
        self.refuses(check.check_tool_rooms(self.project), "system uses a room below it")

    def test_a_file_in_no_room(self):
        self.write("tools/tarn/f.cc")
        self.refuses(check.check_tool_rooms(self.project), "tools/tarn/f.cc", "no room")


class Tests(Tree):
    def test_a_source_without_a_test(self):
        self.write("src/os/a.h")
        self.write("src/os/a.cc")
        self.refuses(check.check_tests(self.project, {}), "src/os/a", "tests/unit/os/a_test.cc")
        self.write("tests/unit/os/a_test.cc")
        self.assertEqual(check.check_tests(self.project, {}), [])
        self.write("src/os/locks/b.cc")
        self.refuses(check.check_tests(self.project, {}), "tests/unit/os/locks/b_test.cc")
        self.write("tests/unit/os/locks/b_test.cc")
        self.assertEqual(check.check_tests(self.project, {}), [])

    def test_a_line_names_a_test_that_is_there(self):
        self.write("src/os/a.cc")
        self.refuses(check.check_tests(self.project, {"os/a": "tests/model/a_test.cc"}),
                     "tests/model/a_test.cc")
        self.write("tests/model/a_test.cc")
        self.assertEqual(check.check_tests(self.project, {"os/a": "tests/model/a_test.cc"}), [])
        self.write("tests/unit/os/a_test.cc")
        self.refuses(check.check_tests(self.project, {"os/a": "tests/model/a_test.cc"}), "take it out")

    def test_a_line_about_a_file_that_has_gone(self):
        self.write("tests/model/a_test.cc")
        self.refuses(check.check_tests(self.project, {"os/a": "tests/model/a_test.cc"}), "is not there")


class Appearance(Tree):
    def test_a_line_that_is_too_wide(self):
        self.write("tests/a.cc", "// " + "x" * 107 + "\n")
        self.assertEqual(check.check_width(self.project), [])
        self.write("tools/b.c", "\n// " + "x" * 108 + "\n")
        self.refuses(check.check_width(self.project), "tools/b.c:2", "111")

    def test_a_line_of_111_columns_of_any_language(self):
        for name in ("Makefile", "tests/unit/CMakeLists.txt", "cmake/a.cmake", "scripts/a.sh", "bench/a.py"):
            with self.subTest(name):
                self.write(name, "# " + "x" * 109 + "\n")
                self.refuses(check.check_width(self.project), f"{name}:1", "111")
                self.write(name, "x" * 111 + "\n")
                self.assertEqual(check.check_width(self.project), [], "it cannot be parted")

    def test_text_of_another_language_in_a_script_is_as_wide_as_it_is(self):
        self.write("scripts/a.py", 'PAGE = """\n' + "x " * 60 + '\n"""\n')
        self.assertEqual(check.check_width(self.project), [])
        self.write("scripts/a.py", '"""What\n' + "x " * 60 + '\n"""\n')
        self.refuses(check.check_width(self.project), "scripts/a.py:2", "120")

    @unittest.skipUnless(check.clang_format(), "no clang-format 14")
    def test_a_format_that_is_not_the_projects(self):
        shutil.copy(PROJECT / ".clang-format", self.project)
        self.write("src/os/a.cc", "int f() { return 1; }\n")
        self.assertEqual(check.check_format(self.project), [])
        self.write("bench/b.cc", "int f () {return 1;}\n")
        self.assertTrue(check.check_format(self.project))


class Comments(Tree):
    def function(self, lines, head="void f() {", above="", indent=""):
        body = "".join(f"{indent}  call({i});\n" for i in range(lines))
        self.write("src/os/a.cc", f"{above}{indent}{head}\n{body}{indent}}}\n")
        return check.check_comments(self.project)

    def test_a_long_function_without_a_comment(self):
        self.refuses(self.function(13), "src/os/a.cc:1", "13 lines")
        self.refuses(self.function(13, "A::A(int a,\n     int b)\n    : a_(a) {"), "a.cc:1", "13 lines")
        self.refuses(self.function(13, indent="  "), "13 lines")
        self.assertEqual(self.function(12), [])

    def test_a_comment_above_it_or_in_it(self):
        self.assertEqual(self.function(13, above="// Why.\n"), [])
        self.assertEqual(self.function(13, above="// Why.\ntemplate <typename T>\n"), [])
        self.assertEqual(self.function(13, "void f() {\n  // Why."), [])

    def test_a_block_within_a_function_is_none(self):
        self.assertEqual(self.function(13, "for (;;) {", indent="  "), [])


class Nodiscard(Tree):
    def test_a_function_whose_result_may_be_dropped(self):
        for declaration in ("void* allocate(std::size_t size);", "static T* try_create(int);",
                            "TARN_INLINE static void* operator new(std::size_t size) { return 0; }",
                            "std::size_t allocate_batch(int);",
                            "template <typename T>\nunique_ptr<T> make_unique(T&& value);"):
            self.write("include/tarn/a.h", f"class A {{\n public:\n  {declaration}\n}};\n")
            self.refuses(check.check_nodiscard(self.project), "a.h", "is not [[nodiscard]]")

    def test_what_is_kept_called_or_inside(self):
        self.write("include/tarn/a.h", """namespace detail {
void* allocate_frame(int);
}  // namespace detail
[[nodiscard]] void* allocate(int);
inline void* use() {
  void* const block = allocate(1);
  block != nullptr ? void() : pool.allocate(2);
  return tarn::allocate(3);
}
void allocate_all(int);
""")
        self.assertEqual(check.check_nodiscard(self.project), [])


class Extensions(Tree):
    def test_a_word_of_one_compiler(self):
        for word in ("[[gnu::cold]] void f();", 'asm("");', "__builtin_ctzll(bits);",
                     "[[no_unique_address]] E e;", "f(__ATOMIC_RELAXED);", "unsigned __int128 a;",
                     "__declspec(noinline) void f();"):
            with self.subTest(word):
                self.write("include/tarn/a.h", word + "\n")
                self.refuses(check.check_extensions(self.project), "include/tarn/a.h", "detail/compiler.h")

    def test_the_file_for_them_and_comments(self):
        self.write("include/tarn/a.h", "// no asm here\nint assembly;\nTARN_COLD void f();\n")
        self.write("include/tarn/detail/compiler.h", "#define TARN_COLD [[gnu::cold]]\n")
        self.assertEqual(check.check_extensions(self.project), [])


class Tiers(Tree):
    def test_an_upward_include(self):
        self.write("src/os/a.h", '#include "page/b.h"\n')
        self.refuses(check.check_tiers(self.project), "higher tier")

    def test_a_folder_that_is_no_tier(self):
        self.write("src/attic/a.h")
        self.refuses(check.check_tiers(self.project), "no tier")

    def test_a_container_in_the_core(self):
        self.write("src/os/a.h", "#include <vector>\n")
        self.refuses(check.check_tiers(self.project), "not for the core")


unittest.main()
