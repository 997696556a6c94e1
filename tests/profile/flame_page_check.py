"""The flame graph's page in a real browser: it stands alone, switches, searches, zooms by click and by
keyboard, and fits a phone.

TARN_TEST_PAGES names the directory that flame_page_samples wrote.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import DESKTOP, PHONE, PageTest, run_checks  # noqa: E402

PAGES = ("mixed", "large", "empty", "odd")


class FlamePage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pages = pathlib.Path(os.environ["TARN_TEST_PAGES"]).resolve()

    def setUp(self):
        self.open("mixed", DESKTOP)

    def open(self, name, size):
        self.show(size, "light")
        self.browser.get((self.pages / f"{name}.html").as_uri())
        self.wait_until(lambda: self.run_js("document.documentElement.dataset.drawn !== undefined"))

    def words(self):
        return self.run_js("document.getElementById('words').textContent")

    def press(self, *keys):
        for key in keys:
            self.run_js("document.getElementById('graph').dispatchEvent("
                        "new KeyboardEvent('keydown', {key: arguments[0], cancelable: true}))", key)

    def click(self, selector):
        self.run_js("document.querySelector(arguments[0]).click()", selector)

    def width_of(self, node):
        return self.run_js("document.querySelector(`[data-node='${arguments[0]}']`)?.offsetWidth ?? 0", node)

    def test_every_page_is_drawn_alone_and_without_a_word_on_the_console(self):
        for name in PAGES:
            for size in (PHONE, DESKTOP):
                with self.subTest(name=name, size=size):
                    self.open(name, size)
                    self.assertEqual(self.run_js("performance.getEntriesByType('resource').length"), 0)
                    self.assertEqual(self.browser.get_log("browser"), [])
                    self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_names_with_markup_are_shown_as_text(self):
        self.open("odd", DESKTOP)
        self.assertIn('<b>&"bad"</script>', self.run_js("document.getElementById('title').textContent"))
        self.assertEqual(self.run_js("document.querySelectorAll('main img, main b').length"), 0)

    def test_the_keyboard_explains_calls_and_zooms(self):
        self.press("Home")
        self.assertIn("all: 5.52 KiB in 18 blocks live, 100.0 % of all", self.words())
        self.press("ArrowDown", "ArrowDown")
        self.assertIn("0x101: 4.00 KiB in 4 blocks live, 72.4 % of all", self.words())
        self.press("ArrowRight")
        self.assertIn("0x102: 512 B in 1 block live", self.words())
        before = self.width_of(3)
        self.press("Enter")
        self.assertGreater(self.width_of(3), before)
        self.assertEqual(self.width_of(2), 0)
        self.press("Escape")
        self.assertEqual(self.width_of(3), before)

    def test_a_click_zooms_and_show_all_brings_back(self):
        before = self.width_of(2)
        self.click("[data-node='2']")
        self.assertGreater(self.width_of(2), before)
        self.click("#reset")
        self.assertEqual(self.width_of(2), before)

    def test_allocated_is_another_graph(self):
        self.press("Home")
        self.click("[data-measure='allocated']")
        self.assertIn("9.09 KiB in 16 blocks allocated", self.words())
        self.assertEqual(self.run_js(
            "document.querySelector('[data-measure=allocated]').getAttribute('aria-pressed')"), "true")

    def test_search_marks_and_adds_up(self):
        self.run_js("""(() => { const search = document.getElementById('search'); search.value = '0x10';
            search.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(self.run_js("document.querySelectorAll('#graph .hit').length"), 3)
        self.assertIn("found: 4.55 KiB, 82.3 % of all",
                      self.run_js("document.getElementById('found').textContent"))


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGES")
