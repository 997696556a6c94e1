"""The results page of `tarn bench` in a real browser: what it shows, and that it needs nothing but itself.

TARN_TEST_PAGE names the page.
"""

import collections
import json
import math
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import DESKTOP, LEAST_CONTRAST, PHONE, PageTest, contrast, parse_colour, run_checks  # noqa: E402

LEAST_TEXT_PX = 10.5


def geometric_means(group):
    """Contender to (mean of own median / best median, number of rows)."""
    ratios = collections.defaultdict(list)
    for row in group["rows"]:
        best = min((result["median"] for result in row["results"]), default=0)
        for result in row["results"]:
            if best > 0:
                ratios[result["c"]].append(result["median"] / best)
    return {c: (math.exp(sum(map(math.log, values)) / len(values)), len(values))
            for c, values in ratios.items()}


class BenchPage(PageTest):
    @classmethod
    def setUpClass(cls):
        page = pathlib.Path(os.environ["TARN_TEST_PAGE"]).resolve()
        cls.text = page.read_text()
        cls.embedded = re.search(r'<script type="application/json" id="results">(.*?)</script>', cls.text,
                                 re.DOTALL)[1]
        cls.data = json.loads(cls.embedded)
        cls.groups = [group for source in cls.data["sources"]
                      for group in source["groups"] if cls.has_results(group)]
        super().setUpClass()
        cls.url = page.as_uri()
        cls.show(DESKTOP, "light")
        cls.open()

    @staticmethod
    def has_results(group):
        return any(row["results"] for row in group["rows"])

    @classmethod
    def open(cls):
        cls.browser.get(cls.url)
        cls.wait_until(lambda: cls.run_js("document.documentElement.dataset.drawn"))

    def click(self, selector):
        self.browser.execute_script("document.querySelector(arguments[0]).click()", selector)

    def marks_of(self, contenders):
        marks = ("[...document.querySelectorAll('.mark')].filter(m => "
                 "arguments[0].includes(+m.dataset.c)).length")
        return self.run_js(marks, contenders)


class ItStandsAlone(BenchPage):
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
        outside = """[...document.querySelectorAll('[src],[href]')]
            .map(e => e.getAttribute('src') ?? e.getAttribute('href')).filter(to => !/^(#|data:)/.test(to))"""
        self.assertEqual(self.run_js(outside), [])

    def test_every_link_leads_somewhere(self):
        dead = """[...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href').slice(1))
            .filter(id => !document.getElementById(id))"""
        self.assertEqual(self.run_js(dead), [])

    def test_the_console_stays_silent(self):
        for details in ("true", "false"):
            self.run_js(f"document.querySelectorAll('details').forEach(d => d.open = {details})")
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def test_no_placeholder_is_left(self):
        self.assertEqual(re.findall(r"@(?:CSS|DATA|JS)@", self.text.replace(self.embedded, "")), [])


class ItShowsEverything(BenchPage):
    def test_the_number_of_drawn_charts_is_told(self):
        drawn = int(self.run_js("document.documentElement.dataset.drawn"))
        self.assertEqual(drawn, self.run_js("document.querySelectorAll('figure svg').length"))

    def test_every_group_has_a_chart_with_visible_marks(self):
        marks = """[...document.querySelectorAll('figure.chart')].map(f => [f.dataset.group,
            [...f.querySelectorAll('.mark')].map(m => m.getBoundingClientRect())
                .filter(b => b.width + b.height > 1).length])"""
        counts = collections.Counter()
        for group, count in self.run_js(marks):
            counts[group] += count
        self.assertEqual([group["name"] for group in self.groups if not counts[group["name"]]], [])

    def test_every_result_is_among_the_marks_of_its_group(self):
        shown = self.run_js("""[...document.querySelectorAll('figure.chart')].flatMap(f =>
            [...f.querySelectorAll('.mark')].map(m => [f.dataset.group, +m.dataset.c]))""")
        counts = collections.Counter(map(tuple, shown))
        for group in self.groups:
            results = [result["c"] for row in group["rows"]
                       for result in row["results"] if result["median"] > 0]
            for c, rows in collections.Counter(results).items():
                self.assertGreaterEqual(counts[group["name"], c], rows, (group["name"], c))

    def charts_of_axis(self, axis):
        """Titles and texts of the charts of each group that is looked at along an axis."""
        script = """return [...document.querySelectorAll('figure.chart')].filter(f => f.dataset.group === arguments[0])
            .map(f => [f.querySelector('h4, figcaption, h5')?.textContent ?? '', f.textContent])"""
        return [self.browser.execute_script(script, group["name"])
                for group in self.groups if group["axis"] == axis]

    def test_percentiles_are_drawn_as_curves(self):
        for charts in self.charts_of_axis("percentile"):
            self.assertTrue(any("p50" in text and "p99.9" in text and "max" in text for _, text in charts),
                            charts)

    def test_memory_is_drawn_over_time(self):
        for charts in self.charts_of_axis("time"):
            self.assertTrue(any("over time" in text and "seconds" in text for _, text in charts), charts)

    def test_opened_tables_hold_every_row(self):
        self.run_js("document.querySelectorAll('details.rows').forEach(d => d.open = true)")
        lines = """[...document.querySelectorAll('section.group')].map(s => [s.id.slice('group-'.length),
            [...s.querySelectorAll('details table')].map(t => t.tBodies[0].rows.length)])"""
        self.wait_until(lambda: all(counts for _, counts in self.run_js(lines)))
        self.assertEqual(dict(self.run_js(lines)),
                         {group["name"]: [len(group["rows"])] * 2 for group in self.groups})

    def test_the_overview_holds_the_geometric_means_of_the_data(self):
        cells = """[...document.querySelectorAll('#overview td[data-group]')].map(td =>
            [td.dataset.group, +td.dataset.c, td.textContent.replace('†', '')])"""
        shown = self.run_js(cells)
        expected = {group["name"]: geometric_means(group) for group in self.groups}
        for group, c, text in shown:
            mean, _ = expected[group].get(c, (None, 0))
            if mean is None:
                self.assertEqual(text, "–", (group, c))
                continue
            last_digit = 10.0 ** -len(text.partition(".")[2])
            self.assertLessEqual(abs(float(text) - mean), 0.5001 * last_digit, (group, c, text, mean))
        present = {(group, c) for group, c, _ in shown}
        self.assertEqual({(group, c) for group, means in expected.items() for c in means} - present, set())

    def test_no_cell_marked_best_has_a_better_one_beside_it(self):
        cells = ("[...document.querySelectorAll('#overview td.best')].map(td => [td.dataset.group, "
                 "+td.dataset.c])")
        marked = self.run_js(cells)
        expected = {group["name"]: geometric_means(group) for group in self.groups}
        for group, c in marked:
            rows = max(count for _, count in expected[group].values())
            comparable = [mean for mean, count in expected[group].values() if count >= 0.9 * rows]
            self.assertAlmostEqual(expected[group][c][0], min(comparable), msg=(group, c))

    def test_failures_and_an_interrupted_run_are_told(self):
        text = self.run_js("document.querySelector('header').textContent")
        for failure in self.data["failures"]:
            for part in (failure["contender"], failure["group"], failure["what"], *failure["lines"]):
                self.assertIn(part, text)
        self.assertEqual("interrupted" in text, self.data["interrupted"])

    def test_names_with_markup_are_shown_as_text(self):
        names = [contender["name"] for contender in self.data["contenders"]]
        listed = self.run_js("[...document.querySelectorAll('#contenders tbody th')].map(th => "
                             "th.textContent)")
        self.assertEqual(listed, names)
        shown = self.run_js("[...document.querySelectorAll('button[data-contender]')].map(b => "
                            "b.textContent)")
        self.assertEqual(sorted(shown), sorted(names))
        self.assertEqual(self.run_js("document.querySelectorAll('img, iframe, object, embed, main "
                                     "script').length"), 0)


class ItCanBeRead(BenchPage):
    def setUp(self):
        self.show(DESKTOP, "light")

    def test_nothing_is_wider_than_the_screen(self):
        for size in (PHONE, DESKTOP):
            with self.subTest(size=size):
                self.show(size, "light")
                self.run_js("document.querySelectorAll('details').forEach(d => d.open = true)")
                self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_text_in_charts_is_large_enough_on_a_phone(self):
        self.show(PHONE, "light")
        sizes = """[...document.querySelectorAll('figure svg')].flatMap(s => {
            const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;
            return [...s.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * scale); })"""
        self.assertGreaterEqual(min(self.run_js(sizes), default=LEAST_TEXT_PX), LEAST_TEXT_PX)

    def test_no_text_leaves_its_chart(self):
        outside = """[...document.querySelectorAll('figure svg')].flatMap(s => { const f = s.getBoundingClientRect();
            return [...s.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect();
                return b.left < f.left - 3 || b.right > f.right + 3 || b.top < f.top - 3 || b.bottom > f.bottom + 3; })
            .map(t => s.getAttribute('aria-label') + ': ' + t.textContent); })"""
        self.assertEqual(self.run_js(outside), [])

    def test_no_two_texts_of_a_chart_overlap(self):
        # Slanted ones are left out: the boxes around them say little. A line box is taller than its letters.
        overlaps = """[...document.querySelectorAll('figure svg')].flatMap(s => {
            const texts = [...s.querySelectorAll('text:not([transform])')]
                .map(t => [t.textContent, t.getBoundingClientRect()]);
            return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([, q]) =>
                p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4)
                .map(([b]) => s.getAttribute('aria-label') + ': ' + a + ' / ' + b)); })"""
        self.assertEqual(self.run_js(overlaps), [])

    def test_text_stands_out_in_light_and_in_dark(self):
        grounds = []
        for scheme in ("light", "dark"):
            self.show(DESKTOP, scheme)
            ground = parse_colour(self.run_js("getComputedStyle(document.body).backgroundColor"))
            grounds.append(ground)
            colours = """[...new Set([
                ...[...document.querySelectorAll('body, p, th, td, small, a, figcaption, summary, button, code, li')]
                    .map(e => getComputedStyle(e).color),
                ...[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)])]"""
            for colour in self.run_js(colours):
                with self.subTest(scheme=scheme, colour=colour):
                    self.assertGreaterEqual(contrast(parse_colour(colour), ground), LEAST_CONTRAST)
        self.assertNotEqual(*grounds)

    def test_figures_stand_out_on_their_tinted_cells(self):
        cells = """[...new Set([...document.querySelectorAll('rect.cell')].map(e => { const s = getComputedStyle(e);
            return s.fill + ' | ' + s.fillOpacity; }))]"""
        for scheme in ("light", "dark"):
            self.show(DESKTOP, scheme)
            ground = parse_colour(self.run_js("getComputedStyle(document.body).backgroundColor"))
            ink = parse_colour(self.run_js("getComputedStyle(document.body).color"))
            for cell in self.run_js(cells):
                fill, opacity = cell.split(" | ")
                share = float(opacity)
                tinted = [share * over + (1 - share) * under
                          for over, under in zip(parse_colour(fill), ground)]
                self.assertGreaterEqual(contrast(ink, tinted), LEAST_CONTRAST, (scheme, cell))


class ContendersCanBeHidden(BenchPage):
    def setUp(self):
        self.open()

    def test_hiding_one_removes_its_marks_and_showing_it_brings_them_back(self):
        first_of_kind = {contender["kind"]: c
                         for c, contender in reversed(list(enumerate(self.data["contenders"])))}
        for c in filter(lambda c: self.marks_of([c]), first_of_kind.values()):
            before = self.marks_of([c])
            self.click(f'button[data-contender="{c}"]')
            self.assertEqual(self.marks_of([c]), 0)
            self.assertEqual(self.pressed(c), "false")
            self.assertEqual(self.visible_cells(c), 0)
            self.click(f'button[data-contender="{c}"]')
            self.assertEqual(self.marks_of([c]), before)
            self.assertEqual(self.pressed(c), "true")
            self.assertGreater(self.visible_cells(c), 0)

    def test_the_pools_that_are_not_tarns_go_and_come_together(self):
        pools = [c for c, contender in enumerate(self.data["contenders"]) if contender["kind"] == "pool"]
        before, others = self.marks_of(pools), [c for c in range(len(self.data["contenders"]))
                                                if c not in pools]
        if not pools:
            return
        of_others = self.marks_of(others)
        self.click_pools()
        self.assertEqual(self.marks_of(pools), 0)
        self.assertGreaterEqual(self.marks_of(others), of_others)
        self.click_pools()
        self.assertEqual(self.marks_of(pools), before)

    def test_all_of_them_may_be_hidden(self):
        for c in range(len(self.data["contenders"])):
            self.click(f'button[data-contender="{c}"]')
        self.assertEqual(self.run_js("document.querySelectorAll('.mark').length"), 0)
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def test_buttons_are_reached_with_the_keyboard(self):
        states = """[...document.querySelectorAll('.legend button')]
            .map(b => [b.tabIndex, b.getAttribute('aria-pressed')])"""
        buttons = self.run_js(states)
        self.assertGreater(len(buttons), 0)
        self.assertEqual({tuple(button) for button in buttons}, {(0, "true")})

    def pressed(self, contender):
        return self.run_js("document.querySelector(arguments[0]).getAttribute('aria-pressed')",
                           f'button[data-contender="{contender}"]')  # fmt: skip

    def visible_cells(self, contender):
        cells = """[...document.querySelectorAll('#overview [data-c]')]
            .filter(e => +e.dataset.c === arguments[0] && getComputedStyle(e).display !== 'none').length"""
        return self.run_js(cells, contender)

    def click_pools(self):
        self.run_js("[...document.querySelectorAll('button.all')].find(b => "
                    "b.textContent.startsWith('pools')).click()")


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGE")
