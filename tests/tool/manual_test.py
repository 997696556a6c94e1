"""Manual pages: `tarn manual` writes them from what the help and the options are made of; man/tarn.3 is
written by hand."""

import os
import pathlib
import re
import shutil
import unittest

from tool import ToolTest

SOURCE = pathlib.Path(os.environ["TARN_TEST_SOURCE"])


class Manual(ToolTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        self.assertEqual(self.tarn("manual", self.scratch).returncode, 0)
        self.pages = sorted(self.scratch.glob("man*/*"))

    def shown(self, page):
        """As a terminal shows it, in lines that are not broken; a warning of groff's fails the test."""
        result = self.run_program("groff", "-man", "-Tascii", "-ww", "-rLL=2000n", "-rHY=0",
                                  *("-P-c", "-P-b", "-P-u"), page)
        self.assertEqual((result.returncode, result.stderr), (0, ""), page)
        return result.stdout

    def shown_command(self, name):
        return self.shown(self.scratch / "man1" / f"tarn-{name}.1")

    def options_of_commands(self):
        cases = re.findall(r"(?m)^    (\S+)\) compadd -- (.*) ;;$", self.tarn("completion", "zsh").stdout)
        return {name: options.split() for name, options in cases}

    def test_groff_warns_of_no_page(self):
        for page in [*self.pages, SOURCE / "man" / "tarn.3"]:
            self.shown(page)

    def test_every_command_has_a_page_with_its_usage_options_and_examples(self):
        commands = self.options_of_commands()
        self.assertIn("run", commands)
        self.assertEqual({page.name for page in self.pages},
                         {"tarn.1", "tarn.conf.5", *(f"tarn-{name}.1" for name in commands)})
        for name, options in commands.items():
            page, help_lines = self.shown_command(name), self.tarn("help", name).stdout.splitlines()
            self.assertIn(help_lines[1].removeprefix("Usage: "), page)
            for option in set(options) - {"--help", "-h"}:
                self.assertRegex(page, rf"(?m)^ +(-\w, )?{option}\b")
            for example in help_lines[help_lines.index("Examples:") + 1:]:
                if not example.startswith("  "):
                    break
                self.assertIn(example, page)

    def test_paragraphs_of_the_help_stand_in_their_sections(self):
        page = self.shown_command("run")
        sections = dict(re.findall(r"(?m)^([A-Z][A-Z ]+)\n((?:(?: .*)?\n)+)", page))
        self.assertIn("replaces tarn", sections["DESCRIPTION"])
        self.assertIn("127 it was not found", sections["EXIT STATUS"])

    def test_the_front_page_lists_all_commands(self):
        page = self.shown(self.scratch / "man1" / "tarn.1")
        for name in self.options_of_commands():
            self.assertRegex(page, rf"(?m)^ +tarn-{name}\(1\)")

    def test_the_page_of_options_has_all(self):
        page = self.shown(self.scratch / "man5" / "tarn.conf.5")
        for option in self.json_of("options")["options"]:
            self.assertRegex(page, rf"(?m)^ +{option['name']}, {option['environment']}$")
            self.assertIn(option["help"], re.sub(r"\s+", " ", page))

    def test_the_page_of_the_library_names_its_headers_and_functions(self):
        page = self.shown(SOURCE / "man" / "tarn.3")
        headers = {f"tarn/{file.name}" for file in (SOURCE / "include" / "tarn").glob("*.h")}
        self.assertEqual(set(re.findall(r"tarn/\w+\.h", page)), headers)
        for language, header, prefix in (("C++", "memory_pool.h", ""), ("C", "tarn.h", "tarn_")):
            declared = set(re.findall(rf"TARN_(?:C_)?API .*?[ *]({prefix}\w+)\(",
                                      (SOURCE / "include" / "tarn" / header).read_text()))
            self.assertTrue(declared)
            missing = {name for name in declared if not re.search(rf"\b{name}\(", page)}
            self.assertEqual(missing, set(), language)


if __name__ == "__main__":
    unittest.main()
