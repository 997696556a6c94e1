"""Which figures of ticks the game server's runner tells, by how many ticks there were."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "game_server" / "run"))

import figures  # noqa: E402
import page  # noqa: E402


def summary_of(tick_count):
    ticks = [1_000_000 + 1_000 * i for i in range(tick_count)]
    return figures.summary([{"packets_per_second": 1000.0, "cpu_microseconds_per_packet": 1.0,
                             "cpu_percent": 90.0,
                             "peak_rss_bytes": 1 << 20, "idle_rss_bytes": 1 << 20,
                             "allocations_per_tick": 5.0,
                             "tick_wall_nanoseconds": ticks, "tick_cpu_nanoseconds": ticks}])


class Percentiles(unittest.TestCase):
    def test_one_is_told_from_the_count_on_that_leaves_ten_samples_beyond_it(self):
        for key, count in (("tick_p90", 100), ("tick_p99", 1000), ("tick_p999", 10000)):
            self.assertNotIn(key, summary_of(count - 1))
            self.assertIn(key, summary_of(count))

    def test_the_table_calls_the_maximum_of_350_ticks_the_maximum(self):
        header = figures.table({"a": summary_of(350), "b": summary_of(350)})[0]
        for title in ("tick p50", "p90", "max"):
            self.assertIn(title, header)
        self.assertNotIn("p99", header)

    def test_the_table_has_those_that_all_contenders_have(self):
        self.assertNotIn("p99.9", figures.table({"a": summary_of(10000), "b": summary_of(350)})[0])
        self.assertIn("p99.9", figures.table({"a": summary_of(10000), "b": summary_of(10001)})[0])

    def test_the_verdict_names_what_it_compares(self):
        few, many = ({name: summary_of(count) for name in ("ours", "peer")} for count in (350, 10000))
        self.assertIn("tick max 1.00x", figures.verdict(few, "ours", ["peer"])[0])
        self.assertNotIn("p99", " ".join(figures.verdict(few, "ours", ["peer"])))
        self.assertIn("tick p99.9 1.00x", figures.verdict(many, "ours", ["peer"])[0])

    def test_the_page_says_which_dots_it_draws(self):
        self.assertEqual([title for _, title in page.tick_titles([{"summary": summary_of(350)}])],
                         ["p50", "p90", "max"])


if __name__ == "__main__":
    unittest.main()
