"""`tarn map` and `tarn doctor` on a real program: python3 on tarn, which fragments its heap on purpose."""

import json
import os
import re
import signal
import unittest

from tool import ToolTest

LIBRARY = os.environ["TARN_TEST_TARN"]
# 400,000 small lists, of which one in 200 survives: what lies between them stays.
FRAGMENTED = """
import sys
objects = [[i] for i in range(400000)]
survivors = objects[::200]
del objects
print("ready", flush=True)
sys.stdin.read()
"""
RESTING = "import sys; print('ready', flush=True); sys.stdin.read()"


class LooksAtAProgram(ToolTest):
    def start(self, program):
        process = self.start_program("python3", "-S", "-c", program, says="ready\n", LD_PRELOAD=LIBRARY,
                                     PYTHONMALLOC="malloc")
        self.wait_until_it_sleeps(process.pid)
        return process

    def core_of(self, process):
        result = self.run_program("gcore", "-o", self.scratch / "core", process.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.scratch / f"core.{process.pid}"


class Map(LooksAtAProgram):
    def test_a_pipe_gets_letters_a_legend_and_who_pins_what(self):
        process = self.start(FRAGMENTED)
        result = self.tarn("map", process.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^0x[0-9a-f]+ +[A-Za-z:.]{64}$")
        self.assertRegex(result.stdout, r"(?m)^A \d+ B .* \(.* %\)")
        self.assertRegex(result.stdout, r"(?m)^size class +\d+ B +[\d.]+ MiB")
        self.assertNotIn("\033", result.stdout)
        self.assertLessEqual(max(map(len, re.findall(r"(?m)^0x.*$", result.stdout))), 80)

    def test_the_terminals_width_and_colours_are_used(self):
        process = self.start(FRAGMENTED)
        text, status = self.on_a_terminal("map", process.pid, "--width", 60, TERM="xterm-256color",
                                          COLORTERM="truecolor")
        self.assertEqual(status, 0)
        self.assertIn("\033[38;2;", text)
        self.assertIn("▒", text)

    def test_json_spans_add_up_to_the_totals(self):
        document = self.json_of("map", self.start(FRAGMENTED).pid)
        self.assertTrue(document["is_residency_known"])
        self.assertEqual(sum(span["live_bytes"] for span in document["spans"]),
                         document["totals"]["live_bytes"])
        self.assertLessEqual(document["totals"]["resident_bytes"], document["totals"]["rss_bytes"])
        self.assertGreater(document["totals"]["idle_bytes"], 10 << 20)
        starts = [span["start"] for span in document["spans"]]
        self.assertEqual(starts, sorted(starts))

    def test_the_survivors_are_who_pins_most(self):
        pinners = self.json_of("map", self.start(FRAGMENTED).pid)["pinners"]
        worst = pinners["classes"][0]
        self.assertGreater(worst["pinned_bytes"], 20 * worst["survivor_bytes"])
        self.assertGreater(worst["survivors"], 1000)

    def test_the_page_is_written_whole(self):
        page = self.scratch / "map.html"
        result = self.tarn("map", self.start(RESTING).pid, "-o", page)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertTrue(page.read_text().rstrip().endswith("</html>"))
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(),
                         re.DOTALL)
        self.assertEqual(json.loads(data[1])["program"], "python3")

    def test_a_core_file_has_the_same_spans(self):
        process = self.start(FRAGMENTED)
        live = self.json_of("map", process.pid)
        core = self.json_of("map", "--core", self.core_of(process))
        self.assertFalse(core["is_residency_known"])
        self.assertEqual([span["live"] for span in core["spans"]], [span["live"] for span in live["spans"]])

    def test_wrong_words_are_one_line_and_status_2(self):
        for words, text in ((["map"], "PID, NAME or --core FILE"), (["map", "1", "--width", "3"], "--width"),
                            (["map", "1", "-o", "/nowhere/x.html"], "/nowhere/x.html"),
                            (["doctor"], "PID, NAME or --core FILE"),
                            (["doctor", "1", "--watch", "-1"], "--watch"),
                            (["doctor", "--core", "x", "--watch", "3"], "--watch")):
            with self.subTest(words=words):
                self.assert_one_line(self.tarn(*words), 2, text)


class Doctor(LooksAtAProgram):
    def test_a_fragmented_program_is_bad_and_the_class_is_named(self):
        result = self.tarn("doctor", self.start(FRAGMENTED).pid)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^✗ [\d.]+ MiB lie free in slabs that live blocks keep")
        self.assertIn("  → Give the objects of", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)

    def test_a_resting_program_has_no_fragmentation(self):
        findings = self.json_of("doctor", self.start(RESTING).pid)["findings"]
        severities = {finding["id"]: finding["severity"] for finding in findings}
        self.assertEqual(severities["fragmentation"], "ok")
        self.assertIn("core_files", severities)

    def test_leaks_are_looked_for_unless_it_is_told_not_to(self):
        process = self.start(RESTING)
        found = self.json_of("doctor", process.pid)
        self.assertIn("leaks", [finding["id"] for finding in found["findings"]])
        self.assertEqual(found["not_looked_for"], [])
        told = self.tarn("doctor", process.pid, "--no-leaks").stdout
        self.assertIn("not looked for: leaks (--leaks)", told)

    def test_the_status_is_1_exactly_when_something_is_bad(self):
        for program in (FRAGMENTED, RESTING):
            result = self.tarn("doctor", self.start(program).pid, "--json")
            severities = [finding["severity"] for finding in json.loads(result.stdout)["findings"]]
            self.assertEqual(result.returncode, int("bad" in severities))

    def test_watching_ends_with_the_program_and_tells_of_growth(self):
        process = self.start(RESTING)
        tool = self.start_tarn("doctor", process.pid, "--watch", 0.1)
        while "live blocks grew by" not in tool.stdout.readline():
            self.assertIsNone(tool.poll())
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=self.DEADLINE)
        _, errors = tool.communicate(timeout=self.DEADLINE)
        self.assertIn(str(process.pid), errors)

    def test_of_a_core_file_the_heap_is_judged_and_the_system_is_not(self):
        result = self.tarn("doctor", "--core", self.core_of(self.start(FRAGMENTED)), "--json")
        found = {finding["id"] for finding in json.loads(result.stdout)["findings"]}
        self.assertEqual(result.returncode, 1)
        self.assertIn("fragmentation", found)
        self.assertNotIn("swap", found)

    def test_a_program_that_is_not_there_is_one_line_and_status_1(self):
        self.assert_one_line(self.tarn("doctor", "no-such-program"), 1, "")


if __name__ == "__main__":
    unittest.main()
