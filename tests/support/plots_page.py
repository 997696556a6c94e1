"""What every page of figures must hold to, in a real browser: it needs nothing but itself, draws each part of
its document, names each line, can be read on a phone, in light and in dark, and hides contenders.

Classes for a check to import; TARN_TEST_PAGE names the page.
"""

import json
import os
import pathlib
import re

from browser import DESKTOP, LEAST_CONTRAST, PHONE, PageTest, contrast, parse_colour

LEAST_TEXT_PX = 10.5
FIGURES = ("bars", "lines", "curves", "scatter")


class PlotsPage(PageTest):
    @classmethod
    def setUpClass(cls):
        page = pathlib.Path(os.environ["TARN_TEST_PAGE"]).resolve()
        cls.text = page.read_text()
        cls.embedded = re.search(r'<script type="application/json" id="document">(.*?)</script>', cls.text,
                                 re.DOTALL)[1]
        cls.document = json.loads(cls.embedded)
        cls.parts = [part for section in cls.document["sections"] for part in section["parts"]]
        cls.figures = [part for part in cls.parts if part["kind"] in FIGURES]
        cls.names = [contender["name"] for contender in cls.document["contenders"]]
        super().setUpClass()
        cls.url = page.as_uri()
        cls.show(DESKTOP, "light")
        cls.open()

    @classmethod
    def open(cls):
        cls.browser.get(cls.url)
        cls.wait_until(lambda: cls.run_js("document.documentElement.dataset.drawn"))

    def open_all(self):
        self.run_js("document.querySelectorAll('details').forEach(d => d.open = true)")
        closed = "[...document.querySelectorAll('details')].filter(d => d.childElementCount < 2).length"
        self.wait_until(lambda: self.run_js(closed) == 0)

    def click(self, contender):
        self.browser.execute_script("document.querySelector(arguments[0]).click()",
                                    f'button[data-contender="{contender}"]')

    def marks_of(self, contender):
        return self.run_js("[...document.querySelectorAll('.mark')]"
                           ".filter(m => +m.dataset.c === arguments[0]).length", contender)

    def visible_cells(self, contender):
        cells = """[...document.querySelectorAll('table [data-c]')]
            .filter(e => +e.dataset.c === arguments[0] && getComputedStyle(e).display !== 'none').length"""
        return self.run_js(cells, contender)

    def messages(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]


class ItStandsAlone(PlotsPage):
    def test_the_source_refers_to_nothing_outside(self):
        source = self.text.replace(self.embedded, "")
        for reference in re.findall(r"""(?:\b(?:src|href|action)\s*=\s*|url\()["']?([^"'\s>)]*)""", source):
            self.assertRegex(reference, r"^(#|data:)")
        self.assertEqual(set(re.findall(r"https?://[^\"'\s]*", source)), {"http://www.w3.org/2000/svg"})
        for word in ("@import", "fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon",
                     "import("):
            self.assertNotIn(word, source)

    def test_nothing_is_fetched(self):
        self.assertEqual(self.run_js("performance.getEntriesByType('resource').map(e => e.name)"), [])

    def test_every_link_leads_somewhere(self):
        dead = """[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))
            .filter(to => !to.startsWith('#') || !document.getElementById(to.slice(1)))"""
        self.assertEqual(self.run_js(dead), [])

    def test_the_console_stays_silent(self):
        self.open_all()
        self.assertEqual(self.messages(), [])

    def test_no_placeholder_is_left(self):
        self.assertEqual(re.findall(r"@(?:CSS|DATA|JS)@", self.text.replace(self.embedded, "")), [])


class ItShowsEverything(PlotsPage):
    def test_every_figure_is_drawn_with_visible_marks(self):
        marks = """[...document.querySelectorAll('figure')].map(f => [f.querySelector('h4').textContent,
            [...f.querySelectorAll('.mark')].map(m => m.getBoundingClientRect())
                .filter(b => b.width + b.height > 1).length])"""
        shown = self.run_js(marks)
        self.assertEqual([title for title, _ in shown], [part["title"] for part in self.figures])
        self.assertEqual([title for title, count in shown if count == 0], [])
        self.assertEqual(int(self.run_js("document.documentElement.dataset.drawn")), len(self.figures))

    def test_every_line_and_curve_is_named(self):
        names = """[...document.querySelectorAll('figure')].map(f =>
            [...f.querySelectorAll('text.name')].map(t => t.textContent))"""
        for part, shown in zip(self.figures, self.run_js(names), strict=True):
            if part["kind"] not in ("lines", "curves"):
                continue
            wanted = [series["name"] if "name" in series else self.names[series["c"]]
                      for series in part["series"]]
            fitting = [name for name in wanted
                       if any(name == text or (text.endswith("…") and name.startswith(text[:-1]))
                              for text in shown)]
            self.assertEqual(fitting, wanted, part["title"])

    def test_every_axis_says_what_it_is_and_which_way_is_better(self):
        for part in self.figures:
            axis = part.get("axis") or part["y"]
            self.assertRegex(axis["title"], "better", part["title"])
        shown = self.run_js("[...document.querySelectorAll('figure .axis')].map(e => e.textContent)")
        for part, text in zip(self.figures, shown, strict=True):
            self.assertIn((part.get("axis") or part["y"])["title"], text)

    def test_the_result_and_what_went_wrong_stand_on_top(self):
        text = self.run_js("document.querySelector('header').textContent")
        told = [self.document["title"], self.document["sentence"], *self.document["warnings"],
                *self.document["about"]]
        for failure in self.document["failures"]:
            told += [failure["name"], failure["what"], *failure.get("lines", [])]
        for part in told:
            self.assertIn(part, text)

    def test_names_with_markup_are_shown_as_text(self):
        shown = self.run_js("[...document.querySelectorAll('button[data-contender]')]"
                            ".sort((a, b) => a.dataset.contender - b.dataset.contender)"
                            ".map(b => b.textContent)")
        self.assertEqual(shown, self.names)
        self.assertEqual(self.run_js("document.querySelectorAll('img, iframe, object, embed, main "
                                     "script').length"), 0)


class ItCanBeRead(PlotsPage):
    def setUp(self):
        self.show(DESKTOP, "light")
        self.open()

    def test_nothing_is_wider_than_the_screen(self):
        for size in (PHONE, DESKTOP):
            with self.subTest(size=size):
                self.show(size, "light")
                self.open()
                self.open_all()
                self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_text_in_figures_is_large_enough_on_a_phone(self):
        self.show(PHONE, "light")
        self.open()
        sizes = """[...document.querySelectorAll('figure svg')].flatMap(s => {
            const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;
            return [...s.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * scale); })"""
        self.assertGreaterEqual(min(self.run_js(sizes), default=LEAST_TEXT_PX), LEAST_TEXT_PX)

    def test_no_text_leaves_its_figure(self):
        outside = """[...document.querySelectorAll('figure svg')].flatMap(s => { const f = s.getBoundingClientRect();
            return [...s.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect();
                return b.left < f.left - 3 || b.right > f.right + 3 || b.top < f.top - 3 || b.bottom > f.bottom + 3; })
            .map(t => s.getAttribute('aria-label') + ': ' + t.textContent); })"""
        for size in (PHONE, DESKTOP):
            self.show(size, "light")
            self.open()
            self.assertEqual(self.run_js(outside), [], size)

    def test_no_two_texts_of_a_figure_overlap(self):
        # Slanted ones are left out: the boxes around them say little. A line box is taller than its letters.
        overlaps = """[...document.querySelectorAll('figure svg')].flatMap(s => {
            const texts = [...s.querySelectorAll('text:not(.slanted)')]
                .map(t => [t.textContent, t.getBoundingClientRect()]);
            return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([, q]) =>
                p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4)
                .map(([b]) => s.getAttribute('aria-label') + ': ' + a + ' / ' + b)); })"""
        for size in (PHONE, DESKTOP):
            self.show(size, "light")
            self.open()
            self.assertEqual(self.run_js(overlaps), [], size)

    def test_text_stands_out_in_light_and_in_dark(self):
        grounds = []
        colours = """[...new Set([
            ...[...document.querySelectorAll('body, p, th, td, small, a, figcaption, summary, button, code')]
                .map(e => getComputedStyle(e).color),
            ...[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)])]"""
        for scheme in ("light", "dark"):
            self.show(DESKTOP, scheme)
            grounds.append(parse_colour(self.run_js("getComputedStyle(document.body).backgroundColor")))
            for colour in self.run_js(colours):
                with self.subTest(scheme=scheme, colour=colour):
                    self.assertGreaterEqual(contrast(parse_colour(colour), grounds[-1]), LEAST_CONTRAST)
        self.assertNotEqual(*grounds)

    def test_figures_stand_out_on_their_tinted_cells(self):
        # What color-mix() gives is told as color(srgb r g b), with shares of one.
        cells = """[...new Set([...document.querySelectorAll('td.tinted, td.is-best')].map(e => {
            const s = getComputedStyle(e); return s.color + ' | ' + s.backgroundColor; }))]"""
        for scheme in ("light", "dark"):
            self.show(DESKTOP, scheme)
            for cell in self.run_js(cells):
                ink, ground = cell.split(" | ")
                share = 255 if ground.startswith("color(") else 1
                tinted = [share * channel for channel in parse_colour(ground)]
                self.assertGreaterEqual(contrast(parse_colour(ink), tinted), LEAST_CONTRAST, (scheme, cell))

    def test_curves_are_read_where_one_points(self):
        readable = [part for part in self.figures if part["kind"] in ("lines", "curves")]
        texts = self.run_js("""[...document.querySelectorAll('figure svg')].filter(s => s.readingAt).map(s => {
            const b = s.getBoundingClientRect();
            s.dispatchEvent(new PointerEvent('pointermove', { clientX: b.left + b.width / 2 }));
            return s.parentElement.querySelector('.reading').textContent; })""")
        for part, text in zip(readable, texts, strict=True):
            for series in part["series"]:
                self.assertIn(series["name"] if "name" in series else self.names[series["c"]], text)


class ContendersCanBeHidden(PlotsPage):
    def setUp(self):
        self.open()

    def test_hiding_one_removes_its_marks_and_showing_it_brings_them_back(self):
        for c in [c for c in range(len(self.names)) if self.marks_of(c)][:4]:
            before, cells = self.marks_of(c), self.visible_cells(c)
            self.click(c)
            self.assertEqual((self.marks_of(c), self.visible_cells(c), self.pressed(c)), (0, 0, "false"))
            self.click(c)
            self.assertEqual((self.marks_of(c), self.visible_cells(c), self.pressed(c)),
                             (before, cells, "true"))
            self.assertGreater(cells, 0)

    def test_all_of_them_may_be_hidden(self):
        for c in range(len(self.names)):
            self.click(c)
        self.assertEqual(self.run_js("document.querySelectorAll('.mark[data-c]').length"), 0)
        self.assertEqual(self.messages(), [])

    def test_a_group_goes_and_comes_with_one_button(self):
        of_group = """[...document.querySelectorAll('button.all')].map(b => {
            const states = () => [...b.parentElement.querySelectorAll('[data-contender]')]
                .map(o => o.getAttribute('aria-pressed'));
            b.click(); const off = states(); b.click(); return [off, states()]; })"""
        for off, on in self.run_js(of_group):
            self.assertEqual((set(off), set(on)), ({"false"}, {"true"}))

    def test_buttons_are_reached_with_the_keyboard(self):
        buttons = self.run_js("""[...document.querySelectorAll('.legend button')]
            .map(b => [b.tabIndex, b.getAttribute('aria-pressed')])""")
        self.assertEqual({tuple(button) for button in buttons}, {(0, "true")})

    def pressed(self, contender):
        return self.run_js("document.querySelector(arguments[0]).getAttribute('aria-pressed')",
                           f'button[data-contender="{contender}"]')  # fmt: skip
