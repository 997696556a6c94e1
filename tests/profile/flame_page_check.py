"""The flame graph's page in a real browser: it stands alone, switches, searches, zooms by click and by
keyboard, has a table of the functions, fits a phone, and opens soon with a million stacks.

TARN_TEST_PAGES names the directory that flame_page_samples wrote.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import DESKTOP, PHONE, PageTest, run_checks  # noqa: E402

PAGES = ("mixed", "large", "million", "empty", "odd")
MOST_BYTES_OF_MILLION = 6_000_000
LONGEST_TO_DRAW = 10_000  # ms; well under one where nothing else runs


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

    def search(self, text):
        self.run_js("""(() => { const search = document.getElementById('search'); search.value = arguments[0];
            search.dispatchEvent(new Event('input')); })()""", text)

    def width_of(self, node):
        return self.run_js("document.querySelector(`[data-call='${arguments[0]}']`)?.offsetWidth ?? 0", node)

    def test_what_was_live_over_the_time_is_a_picture_with_figures(self):
        self.assertEqual(self.run_js("document.querySelectorAll('#areas polygon').length"), 3)
        self.assertIn("after 10 s", self.run_js("document.getElementById('look').textContent"))
        self.run_js("""(() => { const areas = document.getElementById('areas').getBoundingClientRect();
            document.querySelector('#areas svg').dispatchEvent(new PointerEvent('pointermove',
                {bubbles: true, clientX: areas.left + areas.width / 2, clientY: areas.top + 5})); })()""")
        self.assertIn("after 5.0 s", self.run_js("document.getElementById('look').textContent"))
        self.open("large", DESKTOP)
        self.assertTrue(self.run_js("document.getElementById('over-time').hidden"))

    def test_every_page_is_drawn_alone_and_without_a_word_on_the_console(self):
        for name in PAGES:
            for size in (PHONE, DESKTOP):
                with self.subTest(name=name, size=size):
                    self.open(name, size)
                    self.assertEqual(self.run_js("performance.getEntriesByType('resource').length"), 0)
                    self.assertEqual(self.browser.get_log("browser"), [])
                    self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_the_title_says_what_is_drawn(self):
        self.open("mixed", DESKTOP)
        title = "document.getElementById('title').textContent"
        self.assertEqual(self.run_js(title), "Live bytes of server (4711)")
        self.run_js("document.querySelector('[data-measure=allocated]').click()")
        self.run_js("document.querySelector('[data-unit=blocks]').click()")
        self.assertEqual(self.run_js(title), "Allocated blocks of server (4711)")

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
        self.click("[data-call='2']")
        self.assertGreater(self.width_of(2), before)
        self.click("#reset")
        self.assertEqual(self.width_of(2), before)

    def rows(self):
        return self.run_js("""[...document.querySelectorAll('#rows tr')].map(row => [...row.cells].map(
            cell => cell.innerText.trim().replaceAll('\\n', ' ')).join(' | '))""")

    def test_the_table_has_functions_by_their_own_share_and_by_all_they_are_in(self):
        self.assertEqual(self.rows()[:2], ["0x101 | 72 % 4.00 KiB | 72 % 4.00 KiB",
                                           "[allocated before the profile was switched on] | "
                                           "18 % 1000 B | 18 % 1000 B"])
        self.click("[data-sort='total']")
        self.assertEqual(self.rows()[0], "0x201 | 0 % | 82 % 4.55 KiB")
        self.assertEqual(self.run_js("document.querySelector('[data-sort=total]').parentElement.ariaSort"),
                         "descending")
        self.click("[data-measure='allocated']")
        self.click("[data-unit='blocks']")
        self.assertEqual(self.rows()[0], "0x201 | 0 % | 100 % 16 blocks")

    def test_the_table_follows_zoom_and_search(self):
        self.click("[data-call='2']")
        self.assertEqual(self.rows(), ["0x101 | 100 % 4.00 KiB | 100 % 4.00 KiB"])
        self.click("#reset")
        self.search("0x10")
        self.assertEqual([row.split()[0] for row in self.rows()], ["0x101", "0x102", "0x103"])

    def test_a_row_marks_its_function_and_then_zooms_to_it(self):
        row = "[data-function='2']"
        before = self.width_of(2)
        self.click(row)
        marked = "[...document.querySelectorAll('#graph .marked')].map(box => box.dataset.call)"
        self.assertEqual(self.run_js(marked), ["2"])
        self.assertIn("0x101: 1 call marked", self.words())
        self.assertEqual(self.width_of(2), before)
        self.click(row)
        self.assertGreater(self.width_of(2), before)

    def test_arrows_move_in_the_table(self):
        self.run_js("document.querySelector('#rows button').focus()")
        self.run_js("document.activeElement.dispatchEvent("
                    "new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true, cancelable: true}))")
        second = "document.querySelectorAll('#rows button')[1]"
        self.assertTrue(self.run_js(f"{second} === document.activeElement"))

    def test_a_million_stacks_open_soon(self):
        self.assertLess((self.pages / "million.html").stat().st_size, MOST_BYTES_OF_MILLION)
        self.open("million", DESKTOP)
        # The script at the page's end has run by then.
        self.assertLess(
            self.run_js("performance.getEntriesByType('navigation')[0].domInteractive"), LONGEST_TO_DRAW)

    def test_what_is_left_out_of_the_tree_is_in_the_table(self):
        self.open("million", DESKTOP)
        self.click("[data-sort='total']")
        self.assertRegex(self.rows()[0], r"^0x1000 .*\| 100 % ")
        self.search("[smaller")
        self.assertEqual(self.rows(), ["No function."])
        self.click("[data-call='1']")
        self.assertRegex(self.rows()[0], r"^\[smaller calls\] \| \d+ % ")

    def test_allocated_is_another_graph(self):
        self.press("Home")
        self.click("[data-measure='allocated']")
        self.assertIn("9.09 KiB in 16 blocks allocated", self.words())
        self.assertEqual(self.run_js(
            "document.querySelector('[data-measure=allocated]').getAttribute('aria-pressed')"), "true")

    def test_search_marks_and_adds_up(self):
        self.search("0x10")
        self.assertEqual(self.run_js("document.querySelectorAll('#graph .hit').length"), 3)
        self.assertIn("found: 4.55 KiB, 82.3 % of all",
                      self.run_js("document.getElementById('found').textContent"))


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGES")
