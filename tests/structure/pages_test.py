"""The pages (*.md) name what there is: files and headings behind links, commands of `tarn` with their
options, variables. YAML among them parses.

usage: pages_test.py PROJECT [TARN]
"""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

PROJECT, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
PAGES = [path for path in sorted(PROJECT.rglob("*.md"))
         if not any(part.startswith("build") for part in path.relative_to(PROJECT).parts)]
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors_of(page):
    """What GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@functools.cache
def help_of(*command):
    return subprocess.run([TOOL, "help", *command], capture_output=True, text=True, check=True).stdout


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for name, anchor in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
                if "://" in name:
                    continue
                target = (page.parent / name).resolve() if name else page
                with self.subTest(page=page.relative_to(PROJECT), link=f"{name}#{anchor}"):
                    self.assertTrue(target.exists())
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, anchors_of(target))

    @unittest.skipIf(TOOL is None, "no tool was built")
    def test_commands_are_those_of_the_tool(self):
        listed = help_of()
        commands = set(re.findall(r"^  ([a-z]+?)(?: |Print)", listed, re.MULTILINE)) | {"help"}
        for page in PAGES:
            with self.subTest(page=page.relative_to(PROJECT)):
                self.assertLessEqual(set(re.findall(r"`tarn ([a-z]+)", page.read_text("utf-8"))), commands)

    @unittest.skipIf(TOOL is None, "no tool was built")
    def test_commands_have_the_options_that_pages_give_them(self):
        for page in PAGES:
            text = "".join(FENCE.findall(page.read_text("utf-8"))).replace("\\\n", "")
            for command, words in re.findall(r"^(?:\$ )?(?:build/)?tarn ([a-z]+) (.*)$", text, re.MULTILINE):
                for option in re.findall(r"(?<!\S)--[a-z-]+", re.split(r"(?:^| )-- |  #|'", words)[0]):
                    with self.subTest(page=page.relative_to(PROJECT), command=command, option=option):
                        self.assertTrue(option in help_of(command))

    def test_variables_are_known(self):
        pages = [PROJECT / "docs/options.md", PROJECT / "docs/look/top.md"]
        known = set(re.findall(r"TARN_[A-Z_]*[A-Z]", "".join(page.read_text("utf-8") for page in pages)))
        for name in ("in_a_container.md", "which_problem.md", "coming_from.md", "checklist.md"):
            with self.subTest(page=name):
                text = (PROJECT / "docs" / name).read_text("utf-8")
                self.assertLessEqual(set(re.findall(r"\bTARN_[A-Z_]*[A-Z]\b", text)), known)

    def test_yaml_parses(self):
        try:
            import yaml  # of python3-yaml, which nothing else needs
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        blocks = re.findall(r"^```yaml\n(.*?)^```", "\n".join(page.read_text("utf-8") for page in PAGES),
                            re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            self.assertIsInstance(yaml.safe_load(block), (dict, list))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
