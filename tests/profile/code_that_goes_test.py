"""`tarn run --leaks` names functions of code that has gone, has no file, or is in a static program."""
import os
import pathlib
import re
import shutil
import unittest

from tool import ToolTest

GOES = os.environ["TARN_TEST_GOES"]
PLUGINS = [os.environ["TARN_TEST_PLUGIN_A"], os.environ["TARN_TEST_PLUGIN_B"]]
STATIC = os.environ["TARN_TEST_STATIC"].split(":")
LEAKS = 23


class CodeThatGoes(ToolTest):
    def copy_of(self, plugin, name):
        return shutil.copy(plugin, self.scratch / name)

    def told(self, ended):
        self.assertEqual(ended.returncode, LEAKS, ended.stderr)
        self.assertEqual(ended.stdout, "")
        return ended.stderr

    def told_by_tool(self, *command):
        return self.told(self.tarn("run", "--leaks", "--", *command))

    def told_by_itself(self, *command):
        return self.told(self.run_program(*command, TARN_LEAKS="exit"))

    def test_closed_plugins_are_told_apart_though_one_lay_where_the_other_had_lain(self):
        told = self.told_by_tool(GOES, "closed", *PLUGINS)
        for function in ("leaks_in_a", "leaks_in_b"):
            self.assertRegex(told, rf"(?m)^ +(at|by) {function} \(plugin.cc:6\)$")

    def test_the_process_itself_tells_a_closed_plugin_by_file_and_offset(self):
        told = self.told_by_itself(GOES, "closed", *PLUGINS)
        for plugin in PLUGINS:
            self.assertRegex(told, rf"(?m)^    at {re.escape(plugin)}\+0x[0-9a-f]+$")

    def test_a_plugin_that_is_loaded_again_is_one_place(self):
        told = self.told_by_tool(GOES, "closed", PLUGINS[0], PLUGINS[0])
        self.assertEqual(told.count("leaks_in_a"), 1, told)

    def test_a_deleted_library_is_named_from_what_is_loaded(self):
        told = self.told_by_tool(GOES, "deleted", self.copy_of(PLUGINS[0], "a.so"))
        self.assertIn("leaks_in_a", told)

    def test_a_replaced_library_is_not_told_by_what_took_its_place(self):
        told = self.told_by_tool(GOES, "replaced", self.copy_of(PLUGINS[0], "a.so"),
                                 self.copy_of(PLUGINS[1], "b.so"))
        self.assertIn("leaks_in_a", told)
        self.assertNotIn("leaks_in_b", told)

    def test_code_made_at_run_time_has_the_name_that_its_compiler_wrote_down(self):
        try:
            self.assertIn("LazyCompile:~made app.js:7", self.told_by_tool(GOES, "jit"))
        finally:
            for file in pathlib.Path("/tmp").glob("perf-*.map"):
                if "LazyCompile:~made app.js:7" in file.read_text(errors="replace"):
                    file.unlink()

    def test_static_programs_have_stacks(self):
        for program in STATIC:
            with self.subTest(program):
                self.assertRegex(self.told_by_tool(program, "0"), r"lose_quest.*\(leaky.cc:\d+\)")
                self.assertIn(f"at {program}+0x", self.told_by_itself(program, 0))


if __name__ == "__main__":
    unittest.main()
