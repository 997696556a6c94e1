"""Whether `tarn bench --quick` says in which groups it ranks mallocs the other way round than a whole run:
of the committed pair of runs, and how such groups are found.
"""

import json
import lzma
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "bench"))
import quick_pair  # noqa: E402, pylint: disable=wrong-import-position

TOOL = os.environ["TARN_TEST_TOOL"]


def run_with(**times):
    """A run of two rows; the times of a malloc are without noise."""
    return {"groups": {"g": {str(i): {name: [row[i]] * 3 for name, row in times.items()} for i in (0, 1)}}}


class Opposites(unittest.TestCase):
    def test_a_malloc_that_is_faster_in_one_run_and_slower_in_the_other_is_found(self):
        pair = {"quick": run_with(a=(10, 10), b=(20, 20)), "whole": run_with(a=(30, 30), b=(20, 20))}
        self.assertEqual(quick_pair.opposites(pair), [("g", "b", "a")])

    def test_other_distances_in_the_same_order_are_none(self):
        pair = {"quick": run_with(a=(10, 10), b=(11, 11)), "whole": run_with(a=(10, 10), b=(90, 90))}
        self.assertEqual(quick_pair.opposites(pair), [])

    def test_what_lies_within_the_noise_has_no_order(self):
        pair = {"quick": run_with(a=(100, 100), b=(104, 104)), "whole": run_with(a=(200, 200), b=(100, 100))}
        self.assertEqual(quick_pair.opposites(pair), [])
        pair["quick"] = run_with(a=(100, 100), b=(150, 150))
        self.assertEqual(len(quick_pair.opposites(pair)), 1)
        for row in pair["quick"]["groups"]["g"].values():
            row["b"] = [50, 150, 250]
        self.assertEqual(quick_pair.opposites(pair), [])


class Committed(unittest.TestCase):
    def test_quick_names_the_groups_that_it_ranks_otherwise(self):
        newest = max(PROJECT.glob("bench/results/*/quick_pair.json.xz"))
        found = quick_pair.opposites(json.loads(lzma.decompress(newest.read_bytes())))
        told = subprocess.run([TOOL, "bench", "--quiet", "--quick", "--only", "002_fixed", "--scale", "0.001",
                               "--with", "none"], capture_output=True, text=True, check=True).stdout
        named = re.search(r"way round than a whole run in: (.*)\.$", told, re.MULTILINE)[1].split(", ")
        self.assertEqual(sorted(named), sorted({group for group, _, _ in found}))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
