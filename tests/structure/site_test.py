"""The site of the documentation: built from this project, and from small ones with faults.

usage: site_test.py PROJECT [--browser]    With --browser what only a browser tells (site_check.py).
Exit status 77 where what builds the site is not installed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BUILD, CHECK = PROJECT / "scripts/site/build_site.py", PROJECT / "scripts/site/check_site.py"
INTERNAL = re.compile(r"^namespace (?:\w+::)?detail \{.*?^\}  // namespace (?:\w+::)?detail",
                      re.MULTILINE | re.DOTALL)
THEME = pathlib.Path("/usr/share/mkdocs/themes/material")


def run(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True)


def check_in_browser():
    with tempfile.TemporaryDirectory() as site:
        subprocess.run([sys.executable, BUILD, PROJECT, site], check=True)
        check = PROJECT / "tests/structure/site_check.py"
        # Debian's own Python: it is the one that has Debian's selenium.
        environment = {**os.environ, "TARN_TEST_PAGES": site}
        return subprocess.run(["/usr/bin/python3", check], env=environment).returncode


class ScratchTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def write(self, **texts):
        """`docs__page_md` is docs/page.md."""
        for name, text in texts.items():
            path = self.scratch / re.sub(r"_(?=[a-z]+$)", ".", name).replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


class OfThisProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.site = pathlib.Path(scratch.name) / "site"
        built = run(BUILD, PROJECT, cls.site)
        if built.returncode != 0:
            raise AssertionError(built.stdout + built.stderr)

    def read(self, name):
        return (self.site / name).read_text("utf-8")

    def test_each_public_header_has_a_page_with_its_functions(self):
        for header in (PROJECT / "include/tarn").glob("*.h"):
            with self.subTest(header=header.name):
                page = self.read(f"include/tarn/{header.name}.html")
                text = INTERNAL.sub("", header.read_text("utf-8"))
                functions = re.findall(r"^TARN_C_API .*?\b(tarn_\w+)\(", text, re.MULTILINE)
                classes = re.findall(r"^class (?:TARN_\w+ )?(\w+)[^;]*$", text, re.MULTILINE)
                titles = set(re.findall(r'id="(?:class-)?(?:pmr)?(\w+)"', page))
                self.assertEqual({name.lower() for name in functions + classes} - titles, set())

    def test_each_header_has_an_example_that_is_a_test(self):
        listed = "".join((PROJECT / f"examples/{folder}/CMakeLists.txt").read_text("utf-8")
                         for folder in ("pools", "general"))
        for header in (PROJECT / "include/tarn").glob("*.h"):
            with self.subTest(header=header.name):
                page = self.read(f"include/tarn/{header.name}.html")
                example = re.search(r'href="[./]+examples/\w+/(\w+)\.cc?\.html"[^>]*>examples/', page)
                self.assertIsNotNone(example)
                self.assertRegex(listed, rf"\b{example[1]}\b")

    def test_pages_of_headers_leave_out_what_is_internal(self):
        page = self.read("include/tarn/memory_pool.h.html")
        self.assertTrue('id="allocate_batch"' in page)
        for name in ("record_of_step", "TARN_HIT"):
            self.assertFalse(name in page, name)
        self.assertFalse("front_" in self.read("include/tarn/fixed_pool.h.html"))

    def test_the_navigation_has_the_order_of_the_index(self):
        links = re.findall(r"\]\(((?:\w|/)+\.md)\)", (PROJECT / "docs/README.md").read_text("utf-8"))
        wanted = ["docs/" + link.removesuffix(".md").replace("README", "index") + ".html" for link in links]
        navigation = re.search(r"md-nav--primary.*md-content", self.read("index.html"), re.DOTALL)[0]
        navigation = re.findall(r'<a href="([^"]+)"', navigation)
        places = [navigation.index(link) for link in dict.fromkeys(wanted) if "decisions" not in link]
        self.assertGreater(len(places), 15)
        self.assertEqual(places, sorted(places))

    def test_pictures_are_there(self):
        for picture in (PROJECT / "docs").rglob("*.png"):
            self.assertTrue((self.site / picture.relative_to(PROJECT)).is_file(), picture)

    def test_pages_fit_a_phone_and_load_nothing_from_elsewhere(self):
        for page in self.site.rglob("*.html"):
            text = page.read_text("utf-8")
            self.assertTrue('<meta name="viewport" content="width=device-width' in text, page)
            self.assertTrue("Content-Security-Policy\" content=\"default-src 'self'" in text, page)

    def test_lists_under_a_line_of_text_are_lists(self):
        self.assertIsNotNone(re.search(r"All commands share:</p>\s*<ul>", self.read("docs/look/index.html")))


class OfProjectsWithFaults(ScratchTest):
    def built(self):
        (self.scratch / "include/tarn").mkdir(parents=True, exist_ok=True)
        built = run(BUILD, self.scratch, self.scratch / "build/site")
        return built.returncode, built.stderr

    def test_a_page_that_no_index_names_stops_the_build(self):
        self.write(README_md="# a\n", docs__README_md="# b\n\n[c](c.md)\n", docs__c_md="# c\n",
                   docs__d_md="# d\n")
        status, said = self.built()
        self.assertEqual(status, 1)
        self.assertIn("name no docs/d.md", said)

    def test_a_heading_that_is_not_there_stops_the_build(self):
        self.write(README_md="# a\n", docs__README_md="# b\n\n[c](c.md#no)\n", docs__c_md="# c\n\n## Yes\n")
        status, said = self.built()
        self.assertEqual((status, said), (1, "docs/index.html links c.html#no, which is not there\n"))

    def test_a_page_that_is_not_there_stops_the_build(self):
        self.write(README_md="# a\n", docs__README_md="# b\n\n[c](c.md)\n")
        self.assertEqual(self.built(), (1, "docs/index.html links c.md, which is not there\n"))

    def test_a_header_without_an_example_stops_the_build(self):
        self.write(README_md="# a\n", docs__README_md="# b\n", include__tarn__c_h="// c\n#pragma once\n")
        said = "site: no program of examples/pools or examples/general includes tarn/c.h\n"
        self.assertEqual(self.built(), (1, said))

    def test_links_between_pages_that_are_there_do_not(self):
        self.write(README_md="# a\n", docs__README_md="# b\n\n[c](c.md#two-words)\n",
                   docs__c_md="# c\n\n## Two `words`\n[a](../README.md)\n")
        self.assertEqual(self.built(), (0, ""))


class OfSites(ScratchTest):
    def faults(self):
        return run(CHECK, self.scratch).stderr.splitlines()

    def test_what_another_host_would_send_is_a_fault(self):
        self.write(a_html='<script src="https://b/c.js"></script><a href="https://b/">b</a>'
                          '<img src="//b/d.png">',
                   e_css="@import 'https://b/f.css'; p { background: url(data:,) }")
        self.assertEqual(self.faults(), ["a.html loads https://b/c.js", "a.html loads //b/d.png",
                                         "e.css loads https://b/f.css"])

    def test_links_that_lead_nowhere_are_faults(self):
        self.write(a_html='<a href="b.html">b</a><a href="a.html#c">c</a><a href="#d">d</a><p id="d">'
                          '<img src="e.png">')
        self.assertEqual(self.faults(), [f"a.html links {link}, which is not there"
                                         for link in ("b.html", "a.html#c", "e.png")])


if __name__ == "__main__":
    missing = [name for name in ("doxygen", "mkdocs") if shutil.which(name) is None]
    missing += [] if THEME.is_dir() else ["mkdocs-material"]
    if missing:
        print("skipped: the site needs", ", ".join(missing) + ", which scripts/setup.sh --docs installs")
        sys.exit(77)
    if sys.argv[2:] == ["--browser"]:
        sys.exit(check_in_browser())
    unittest.main(argv=sys.argv[:1])
