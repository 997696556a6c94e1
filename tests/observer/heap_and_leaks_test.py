"""`tarn heap` and `tarn leaks` on real processes that wait with what was planted in them."""

import json
import os
import pathlib
import unittest

from tool import ToolTest

LIBRARY = os.environ["TARN_TEST_LIBRARY"]
PROGRAMS = pathlib.Path(os.environ["TARN_TEST_PROGRAMS"])


def name_of(group):
    """The class without its namespaces, else the size."""
    return group["class"].split("::")[-1] if group["class"] else group["block_bytes"]


class LookTest(ToolTest):
    DEADLINE = 60  # less than the whole test may take

    def start(self, program, *words, preload=LIBRARY):
        """Its process id, which it says when it is ready."""
        process = self.start_program(PROGRAMS / program, *words, LD_PRELOAD=preload)
        return process.stdout.readline().strip()

    def groups(self, *words):
        result = self.tarn(*words, "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return {(name_of(group), group["pool"]): group for group in json.loads(result.stdout)["groups"]}

    def leaks(self, *words):
        return self.groups("leaks", "--wait", "0", *words)


class HeapTest(LookTest):
    def test_blocks_are_counted_by_class(self):
        groups = self.groups("heap", self.start("leaking_program"))
        self.assertEqual(groups["Quest", ""]["blocks"], 5000)
        self.assertGreaterEqual(groups["Quest", ""]["bytes"], 5000 * 48)
        self.assertEqual(groups["Monster", ""]["blocks"], 5000)
        shared = [group for group in groups.values() if group["name"].startswith("shared ")]
        self.assertEqual([group["blocks"] for group in shared], [5000])

    def test_classes_without_type_info_are_named_by_symbols(self):
        groups = self.groups("heap", self.start("plain_classes_program"))
        self.assertEqual(groups["Quest", ""]["blocks"], 700)

    def test_a_stripped_program_has_the_names_of_its_classes(self):
        stripped = self.scratch / "stripped_program"
        self.run_program("strip", "-o", stripped, PROGRAMS / "leaking_program", check=True)
        groups = self.groups("heap", self.start(stripped))
        self.assertEqual(groups["Quest", ""]["blocks"], 5000)

    def test_without_contents_no_class_is_known(self):
        result = self.tarn("heap", self.start("leaking_program"), "--no-content", "--json")
        census = json.loads(result.stdout)
        self.assertFalse(census["contents_read"])
        self.assertEqual({group["class"] for group in census["groups"]}, {""})
        self.assertGreater(census["blocks"], 20000)

    def test_growth_is_that_against_a_saved_census(self):
        saved = self.scratch / "saved.json"
        self.assertEqual(self.tarn("heap", self.start("leaking_program"), "--save", saved).returncode, 0)
        grown = self.groups("heap", self.start("leaking_program", "--leak"), "--since", saved)
        self.assertEqual(grown["Quest", ""]["blocks_grown"], 1000)
        self.assertEqual(grown["Link", ""]["blocks_grown"], 300)
        self.assertNotIn(("Monster", ""), grown)

    def test_a_file_that_is_no_census_is_refused(self):
        file = self.scratch / "no_census.json"
        file.write_text('{"schema": "something else"}')
        result = self.tarn("heap", 1, "--since", file)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--save", result.stderr)

    def test_the_table_says_how_much_it_leaves_out(self):
        result = self.tarn("heap", self.start("leaking_program"), "--top", "2")
        self.assertRegex(result.stdout, r"\n\d+ more classes and sizes: ")

    def test_objects_in_pools_are_counted_under_their_pools(self):
        groups = self.groups("heap", self.start("pool_objects_program", preload=""))
        for pool in ("objects", "fixed", "heap", "handled"):
            self.assertEqual(groups["Item", pool]["blocks"], 300, pool)


class LeaksTest(LookTest):
    def test_a_program_without_leaks_has_none(self):
        result = self.tarn("leaks", self.start("leaking_program"), "--wait", "0")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("No leaks", result.stdout)

    def test_planted_leaks_are_found_and_told_apart(self):
        groups = self.leaks(self.start("leaking_program", "--leak"))
        self.assertGreaterEqual(groups["Quest", ""]["direct"]["blocks"], 990)
        self.assertGreaterEqual(groups["Quest", ""]["kept"]["blocks"], 990)  # their strings
        self.assertGreaterEqual(groups["Link", ""]["direct"]["blocks"], 99)
        self.assertGreaterEqual(groups["Link", ""]["indirect"]["blocks"], 198)
        self.assertGreaterEqual(groups["Twin", ""]["direct"]["blocks"], 99)
        self.assertGreaterEqual(groups["Twin", ""]["indirect"]["blocks"], 99)
        self.assertNotIn(("Monster", ""), groups)
        self.assertLessEqual(groups["Quest", ""]["direct"]["blocks"], 1000)

    def test_leaks_in_pools_are_found_but_objects_of_handles_are_none(self):
        groups = self.leaks(self.start("pool_objects_program", preload=""))
        for pool in ("objects", "fixed", "heap"):
            self.assertGreaterEqual(groups["Item", pool]["direct"]["blocks"], 99, pool)
            self.assertLessEqual(groups["Item", pool]["direct"]["blocks"], 100, pool)
        self.assertNotIn(("Item", "handled"), groups)

    def test_what_only_the_library_has_an_address_of_is_a_leak_here_and_in_a_core(self):
        pid = self.start("leaking_program", "--to-library")
        self.assertEqual(self.leaks(pid)["Quest", ""]["direct"]["blocks"], 1)
        core = self.scratch / "core"
        self.run_program("gcore", "-o", core, pid, check=True)
        groups = self.groups("leaks", "--core", f"{core}.{pid}")
        self.assertEqual(groups["Quest", ""]["direct"]["blocks"], 1)

    def test_stopping_threads_finds_the_same_and_the_program_goes_on(self):
        pid = self.start("leaking_program", "--leak")
        groups = self.leaks(pid, "--stop")
        self.assertGreaterEqual(groups["Quest", ""]["direct"]["blocks"], 990)
        self.assertEqual(self.tarn("leaks", pid, "--wait", "0").returncode, 1)

    def test_no_content_is_refused_with_the_reason(self):
        result = self.tarn("leaks", "1", "--no-content")
        self.assertEqual(result.returncode, 2)
        self.assertIn("reading blocks", result.stderr)

    def test_a_program_that_cannot_be_looked_at_exits_with_2(self):
        self.assertEqual(self.tarn("leaks", "no_such_program").returncode, 2)
        without = self.start("leaking_program", "--leak", preload="")
        self.assertEqual(self.tarn("leaks", without).returncode, 2)


if __name__ == "__main__":
    unittest.main()
