"""The page of `tarn map` in a real browser: it stands alone, explains cells, filters, and can be read and
used by keyboard on a phone and a desktop, light and dark.

TARN_TEST_PAGES names the directory that map_page_samples wrote.
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import DESKTOP, LEAST_CONTRAST, PHONE, PageTest, contrast, parse_colour, run_checks  # noqa: E402

MOST_PAINT_MS = 250  # of a busy machine; a quiet one takes a twentieth
REFERENCE = re.compile(r"""(?:\b(?:src|href|action)\s*=\s*|url\()["']?([^"'\s>)]*)""")
OUTSIDE = ("http://", "https://", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "import(")
PAGES = ("mixed", "large", "empty", "odd")


class MapPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pages = pathlib.Path(os.environ["TARN_TEST_PAGES"]).resolve()

    def setUp(self):
        self.show(DESKTOP, "light")
        self.open("mixed")

    def open(self, name):
        self.browser.get((self.pages / f"{name}.html").as_uri())
        self.wait_for("document.documentElement.dataset.drawn !== undefined")

    def wait_for(self, condition):
        self.wait_until(lambda: self.run_js(condition))

    def text_of(self, selector):
        return self.run_js("document.querySelector(arguments[0]).textContent", selector)

    def press(self, *keys):
        for key in keys:
            self.run_js("document.getElementById('scroller').dispatchEvent("
                        "new KeyboardEvent('keydown', {key: arguments[0], cancelable: true}))", key)

    def point(self, kind, x, y, pointer="mouse"):
        """At a place of the sheet."""
        self.run_js("""(() => { const box = document.getElementById('sheet').getBoundingClientRect();
            document.getElementById('scroller').dispatchEvent(new PointerEvent(arguments[0], {bubbles: true,
                pointerType: arguments[3], clientX: box.left + arguments[1], clientY: box.top + arguments[2]})); })()""",
                    kind, x, y, pointer)

    def choose(self, selector, value):
        self.run_js("""(() => { const select = document.querySelector(arguments[0]); select.value = arguments[1];
            select.dispatchEvent(new Event('change')); })()""", selector, value)

    def assert_console_is_silent(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])


class ItStandsAlone(MapPage):
    def test_no_source_refers_to_anything_outside(self):
        for name in PAGES:
            text = (self.pages / f"{name}.html").read_text()
            source = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
            for reference in REFERENCE.findall(source):
                self.assertRegex(reference, r"^(#|data:)")
            for word in OUTSIDE:
                self.assertNotIn(word, source)
            self.assertEqual(re.findall(r"@(?:CSS|DATA|JS)@", source), [])

    def test_nothing_is_fetched_and_the_console_stays_silent(self):
        for name in PAGES:
            self.open(name)
            self.assertEqual(self.run_js("performance.getEntriesByType('resource').length"), 0)
            self.assert_console_is_silent()

    def test_names_with_markup_are_shown_as_text(self):
        self.open("odd")
        self.assertIn('<b>&"bad"</script>', self.text_of("#title"))
        self.assertIn("<img src=x", self.text_of("#legend"))
        self.assertEqual(self.run_js("document.querySelectorAll('main img, main script').length"), 0)


class ItExplainsCells(MapPage):
    def test_the_keyboard_reaches_cells_in_the_order_of_addresses(self):
        self.press("ArrowRight")
        self.assertEqual(self.text_of("#words"),
                         "slab 0x7f0000000000, 48 B × 1,365, live 1,365 (fill 100 %), owner 0 (thread 1), "
                         "resident 16 of 16 OS pages")
        self.press("ArrowRight")
        self.assertEqual(self.text_of("#words"),
                         "slab 0x7f0000010000, 48 B × 1,365, live 3 (fill 0.2 %), owner 0 (thread 1), "
                         "resident 16 of 16 OS pages: pins 63.9 KiB")
        self.press("ArrowLeft", "ArrowLeft")
        self.assertIn("0x7f0000000000", self.text_of("#words"))

    def test_first_and_last_rows_and_leaving(self):
        self.press("End")
        self.assertIn("freed large block", self.text_of("#words"))
        self.press("ArrowUp", "ArrowDown", "PageUp", "Home")
        self.assertIn("0x7f0000000000", self.text_of("#words"))
        self.press("Escape")
        self.assertIn("Point at a cell", self.text_of("#words"))

    def test_every_cell_has_words(self):
        self.press("Home")
        kinds, seen = set(), []
        for _ in range(self.run_js("+document.documentElement.dataset.drawn")):
            words = self.text_of("#words")
            self.assertRegex(words, r"0x7f[0-9a-f]{10}, ")
            kinds.add(words.split(" 0x")[0])
            seen.append(words)
            self.press("ArrowRight")
        for kind in ("slab", "spare slab", "large block", "free pages", "mixed page of a heap",
                     "freed large block, kept"):
            self.assertIn(kind, kinds)
        for meaning in (": keeps 64.0 KiB", "512 KiB, kept for reuse", "6.25 MiB, given back"):
            self.assertTrue(any(meaning in words for words in seen), meaning)
        self.assert_console_is_silent()

    def test_the_mouse_explains_what_is_below_it(self):
        self.point("pointermove", 3, 22)
        self.assertIn("0x7f0000000000", self.text_of("#words"))
        self.assertFalse(self.run_js("document.getElementById('cursor').hidden"))

    def test_a_tap_explains_and_stays(self):
        self.point("click", 3, 22, "touch")
        before = self.text_of("#words")
        self.assertIn("0x7f0000000000", before)
        self.point("pointermove", 200, 22)
        self.assertEqual(self.text_of("#words"), before)


class ItFilters(MapPage):
    def matching(self):
        return int(re.match(r"([\d,]+) of", self.text_of("#matching"))[1].replace(",", ""))

    def test_every_select_narrows_and_show_all_brings_back(self):
        everything = self.matching()
        self.assertEqual(everything, self.run_js("+document.documentElement.dataset.drawn"))
        for select in ("#by-class", "#by-pool", "#by-owner", "#by-state"):
            values = self.run_js("[...document.querySelector(arguments[0]).options].map(o => o.value)",
                                 select)
            self.assertGreater(len(values), 1, select)
            self.choose(select, values[1])
            self.assertLess(self.matching(), everything, select)
            self.assertGreater(self.matching(), 0, select)
            self.run_js("document.getElementById('reset').click()")
            self.assertEqual(self.matching(), everything, select)

    def test_what_matches_adds_up_to_the_totals(self):
        totals = self.run_js("JSON.parse(document.getElementById('data').textContent).totals")
        self.assertIn(f"{totals['live_bytes'] / 2**20:.2f} MiB live", self.text_of("#matching"))
        self.assertIn(f"{totals['idle_bytes'] / 2**20:.2f} MiB free but resident", self.text_of("#matching"))

    def test_the_classes_in_the_legend_and_in_the_list_choose_the_same(self):
        self.run_js("document.querySelector('#legend button').click()")
        from_legend = self.matching()
        self.assertEqual(from_legend, 40)
        self.assert_is_pressed("#legend button")
        self.run_js("document.querySelector('#legend button').click()")
        self.run_js("document.querySelector('#pins button').click()")
        self.assertEqual(self.matching(), from_legend)
        self.assert_is_pressed("#pins button")

    def test_many_sizes_share_colours_by_ranges_which_are_shown_alone(self):
        self.open("large")
        legend = self.run_js("[...document.querySelectorAll('#legend button')].map(b => b.textContent)")
        names = [text.split(" · ")[0] for text in legend]
        self.assertEqual((names[0], names[7]), ("16 B – 784 B, 7 sizes", "large blocks"))
        everything = self.matching()
        self.run_js("document.querySelector('#legend button').click()")
        self.assertGreater(self.matching(), everything / 8)
        self.assertLess(self.matching(), everything / 4)

    def assert_is_pressed(self, selector):
        state = self.run_js("document.querySelector(arguments[0]).getAttribute('aria-pressed')", selector)
        self.assertEqual(state, "true")

    def test_the_focus_stays_where_it_was(self):
        self.run_js("document.querySelector('#legend button').focus()")
        self.run_js("document.activeElement.click()")
        self.assertEqual(self.run_js("document.activeElement.getAttribute('data-colour')"), "0")

    def test_what_does_not_match_is_drawn_faint(self):
        pixel = """(() => { const canvas = document.getElementById('canvas');
            return [...canvas.getContext('2d').getImageData(2, 25, 1, 1).data]; })()"""
        before = self.run_js(pixel)
        self.choose("#by-owner", "1")
        self.browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        after = self.run_js(pixel)
        self.assertGreater(sum(after), sum(before))  # nearer to the white ground


class ItCanBeRead(MapPage):
    def test_nothing_is_wider_than_the_screen(self):
        for name in PAGES:
            for size in (PHONE, DESKTOP):
                with self.subTest(name=name, size=size):
                    self.show(size, "light")
                    self.open(name)
                    self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_text_stands_out_in_light_and_in_dark(self):
        grounds = []
        for scheme in ("light", "dark"):
            self.show(DESKTOP, scheme)
            ground = parse_colour(self.run_js("getComputedStyle(document.body).backgroundColor"))
            grounds.append(ground)
            colours = """[...new Set([...document.querySelectorAll('body, h1, p, span, label, select, button, th, td')]
                .map(e => getComputedStyle(e).color))]"""
            for colour in self.run_js(colours):
                with self.subTest(scheme=scheme, colour=colour):
                    self.assertGreaterEqual(contrast(parse_colour(colour), ground), LEAST_CONTRAST)
        self.assertNotEqual(*grounds)

    def test_every_control_is_reached_by_the_keyboard_and_has_a_name(self):
        unreachable = """[...document.querySelectorAll('button, select, #scroller')]
            .filter(e => e.tabIndex !== 0).length"""
        self.assertEqual(self.run_js(unreachable), 0)
        nameless = """[...document.querySelectorAll('button')].filter(b => !b.textContent.trim()).length"""
        self.assertEqual(self.run_js(nameless), 0)

    def test_heads_stand_over_their_columns(self):
        for size in (DESKTOP, PHONE):
            self.show(size, "light")
            self.open("mixed")
            self.assertTrue(self.run_js("""[...document.querySelectorAll('#pins tr')].every(
                (row, i, rows) => [...row.cells].filter(c => c.offsetParent).length
                    === [...rows[0].cells].filter(c => c.offsetParent).length)"""))

    def test_cells_are_as_wide_as_a_phone_allows(self):
        self.show(PHONE, "dark")
        self.open("mixed")
        self.press("Home")
        side = self.run_js("document.getElementById('cursor').getBoundingClientRect().width")
        self.assertGreaterEqual(side, 10)


class ItIsFast(MapPage):
    def test_160000_cells_are_drawn_and_scrolled_within_a_frame_or_a_few(self):
        for size in (DESKTOP, PHONE):
            self.show(size, "light")
            self.open("large")
            self.assertGreater(self.run_js("+document.documentElement.dataset.drawn"), 160_000)
            worst = self.browser.execute_async_script("""
                const done = arguments[0], scroller = document.getElementById('scroller'), times = [];
                const step = (i) => {
                    if (i) times.push(+document.documentElement.dataset.paintMs);
                    if (i === 20) return done(times.sort((a, b) => a - b)[10]);
                    scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * i / 20;
                    requestAnimationFrame(() => requestAnimationFrame(() => step(i + 1)));
                };
                step(0);""")
            self.assertLess(worst, MOST_PAINT_MS)


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGES")
