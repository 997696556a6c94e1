"""The page of `tarn bench` in a real browser, beside the results it was made from.

TARN_TEST_PAGE names the page, TARN_TEST_RESULTS the JSON.
"""

import collections
import json
import math
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import run_checks  # noqa: E402
from plots_page import (ContendersCanBeHidden, ItCanBeRead, ItShowsEverything, ItStandsAlone,  # noqa: E402
                        PlotsPage)

__all__ = ["ContendersCanBeHidden", "ItCanBeRead", "ItShowsEverything", "ItStandsAlone"]


def medians_of(row):
    values = {one["name"]: [run[row["metric"]] for run in one["runs"] if row["metric"] in run]
              for one in row["allocators"]}
    return {name: statistics.median(own) for name, own in values.items() if own}


def speeds_of(group):
    """Contender to (mean of best median / own, number of rows)."""
    shares = collections.defaultdict(list)
    for row in group["rows"]:
        medians = {name: median for name, median in medians_of(row).items() if median > 0}
        for name, median in medians.items():
            shares[name].append(min(medians.values()) / median)
    return {name: (math.exp(sum(map(math.log, own)) / len(own)), len(own)) for name, own in shares.items()}


class TheFiguresAreThoseOfTheResults(PlotsPage):
    @classmethod
    def setUpClass(cls):
        with open(os.environ["TARN_TEST_RESULTS"], encoding="utf-8") as file:
            cls.results = json.load(file)
        cls.groups = [group for group in cls.results["groups"]
                      if any(medians_of(row) for row in group["rows"])]
        super().setUpClass()

    def overview_cells(self):
        """(group, contender, text, whether it is marked) of both tables of the overview."""
        cells = self.run_js("""[...document.querySelectorAll('#overview table')].flatMap(t => {
            const groupOf = (e) => e?.querySelector('a')?.getAttribute('href').slice('#group-'.length);
            const heads = [...t.tHead.rows[0].cells];
            return [...t.tBodies[0].rows].flatMap(r => [...r.cells].slice(1).map((cell, i) =>
                [groupOf(r.cells[0]) ?? groupOf(heads[i + 1]), +(cell.dataset.c ?? r.dataset.c),
                 cell.textContent, cell.className.includes('is-best')])); })""")
        return [(group, self.names[c], text, is_marked) for group, c, text, is_marked in cells]

    def test_the_overview_holds_the_geometric_means_of_the_data(self):
        speeds = {group["group"]: speeds_of(group) for group in self.groups}
        shown = {(group, name): text.rstrip("†") for group, name, text, _ in self.overview_cells()}
        for (group, name), text in shown.items():
            if name not in speeds[group]:
                self.assertEqual(text, "–", (group, name))
                continue
            last_digit = 10.0 ** -len(text.partition(".")[2]) if "e" not in text else float(text)
            self.assertLessEqual(abs(float(text) - speeds[group][name][0]), 0.51 * last_digit, (group, name))
        wanted = {(group, name) for group, of_group in speeds.items() for name in of_group}
        self.assertEqual(wanted - set(shown), set())

    def test_no_cell_marked_best_has_a_better_one_beside_it(self):
        speeds = {group["group"]: speeds_of(group) for group in self.groups}
        marked = [(group, name) for group, name, _, is_marked in self.overview_cells() if is_marked]
        self.assertGreater(len(marked), 0)
        for group, name in marked:
            most = max(count for _, count in speeds[group].values())
            best = max(mean for mean, count in speeds[group].values() if count == most)
            self.assertAlmostEqual(speeds[group][name][0], best, msg=(group, name))

    def test_opened_tables_hold_every_row(self):
        self.open_all()
        counts = """[...document.querySelectorAll('section[id^=group-]')].map(s => [s.id.slice('group-'.length),
            [...s.querySelectorAll(':scope details table')].map(t => t.tBodies[0].rows.length)])"""
        wanted = {group["group"]: [sum(bool(medians_of(row)) for row in group["rows"])] * 2
                  for group in self.groups}
        self.assertEqual(dict(self.run_js(counts)), wanted)

    def test_percentiles_and_memory_over_time_are_lines(self):
        sections = {section.get("id"): section["parts"] for section in self.document["sections"]}
        for part in sections.get("group-latency", [])[:1]:
            self.assertEqual((part["kind"], part["x"]["labels"][-1]), ("lines", "max"))
        for parts in (sections[name] for name in sections if name == "group-footprint"):
            self.assertIn("curves", [part["kind"] for part in parts])

    def test_failures_and_an_interrupted_run_are_told(self):
        text = self.run_js("document.querySelector('header').textContent")
        for failure in self.results["failures"]:
            for part in (failure["name"], failure["group"], failure["what"], *failure["last_error_lines"]):
                self.assertIn(part, text)
        self.assertEqual("interrupted" in text, self.results["interrupted"])


if __name__ == "__main__":
    run_checks("TARN_TEST_PAGE")
