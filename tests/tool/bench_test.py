"""`tarn bench` from outside, with the real benchmark programs at a tiny scale: what it measures, tells and
writes, and what it makes of allocators that go wrong.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from tool import TOOL, ToolTest, children_of

LIBRARIES = os.environ["TARN_TEST_LIBRARIES"]
TARN = os.environ["TARN_TEST_TARN"]  # the drop-in library
MAKER = os.environ["TARN_TEST_MAKER"]  # of a trace
HARMLESS, CRASHING = (f"{LIBRARIES}/libfake_{name}.so" for name in ("harmless", "crashing"))
OVERLAPPING, HANGING, FAILING = (f"{LIBRARIES}/libfake_{name}.so"
                                 for name in ("overlapping", "hanging", "failing"))
TINY = ["--scale", "0.001"]
# Two groups that take a moment: one of sizes, one of threads; and the blocks that the overlapping library
# gives twice.
SMALL = ["--only", "002_fixed,boundary", "--sizes", "64,96", "--threads", "1,4"]


def words_of(pid):
    """The command line of a process."""
    return set(pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0"))


class BenchTest(ToolTest):
    DEADLINE = 300  # on a quiet machine the whole file takes 170

    def bench(self, *words, **environment):
        return self.tarn("bench", "--quiet", *words, **environment)

    def results(self, *words):
        """The process and the JSON of a tiny run."""
        rounds = () if "--rounds" in words else ("--rounds", "2")
        return self.result_and_json("bench", "--quiet", *TINY, *rounds, *words)

    def start(self, *words):
        return self.start_tarn("bench", "--quiet", *words)

    def child_of(self, process, *words):
        """The pid of a child with these words in its command line."""
        def found():
            try:
                return next((pid for pid in children_of(process) if set(words) <= words_of(pid)), None)
            except (FileNotFoundError, ProcessLookupError):  # it has ended
                return None
        return self.wait_until(found, f"no child with {words}")

    def assert_refused(self, result, text):
        self.assert_one_line(result, 2, text)
        self.assertEqual(result.stdout, "")


class Everything(BenchTest):
    def test_every_workload_runs_under_every_allocator_that_is_asked_for(self):
        none, page = self.scratch / "none", self.scratch / "page.html"
        none.mkdir()
        # All take four minutes: in a usual run glibc stands for all rivals that are preloaded.
        rivals = "mimalloc,jemalloc,tcmalloc,tbb"
        fewer = () if os.environ.get("TARN_LONG_TESTS") == "1" else ("--without", rivals)
        result, run = self.results("--quick", "--rounds", "1", "-o", page, "--traces", none, *fewer)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(run["failures"], [])
        kinds = {a["name"]: a["kind"] for a in run["allocators"]}
        everywhere = {name for name, kind in kinds.items()
                      if kind in ("system", "general", "tarn", "tarn-inline")}
        for group in run["groups"]:
            for row in group["rows"]:
                names = {a["name"] for a in row["allocators"]}
                self.assertTrue(names, f"{group['group']} {row['row']} has no figures")
                # In these pools have rows of their own.
                if group["group"] not in ("arena", "micro", "003_walk", "003_handles"):
                    self.assertLessEqual(everywhere, names, f"{group['group']} {row['row']}")
                for allocator in row["allocators"]:
                    self.assertGreater(allocator["runs"][0][row["metric"]], 0)
                    self.assertGreater(allocator["runs"][0]["peak_rss_bytes"], 100_000)
                    if not row["cold"]:
                        self.assertGreaterEqual(allocator["runs"][0]["rounds"], 5)
        self.assertEqual(run["few_rounds"], [])
        synchronised = {a["name"] for a in run["allocators"] if a["synchronised"]}
        self.assertLessEqual(everywhere | {"tarn-shared", "source-004"}, synchronised)
        self.assertFalse({"tarn-fixed", "source-003", "boost-pool"} & synchronised)
        sources = {name.split("_")[0] for name in (g["group"] for g in run["groups"])}
        self.assertLessEqual({"000", "001", "002", "003", "004", "server", "latency", "waste", "micro"},
                             sources)
        self.assertFalse({"decline", "footprint"} & {group["group"] for group in run["groups"]})
        for section in ("000  ", "001  ", "002  ", "003  ", "004  ", "ours  "):
            self.assertIn(section, result.stdout)
        self.assertGreater(len(page.read_text()), 50_000)


class Choice(BenchTest):
    def rows(self, *words):
        _, run = self.results("--with", "none", *words)
        return {(g["group"], r["row"]) for g in run["groups"] for r in g["rows"]}

    def test_a_source_is_chosen_by_its_number_and_a_group_by_its_name(self):
        self.assertEqual({group for group, _ in self.rows("--only", "002,server", "--quick")},
                         {"002_fixed", "002_mixed", "server"})

    def test_what_waits_for_seconds_is_no_part_of_a_quick_run_unless_it_is_named(self):
        named = self.rows("--only", "footprint", "--quick", "--rounds", "1")
        self.assertEqual({group for group, _ in named}, {"footprint"})

    def test_a_linked_in_malloc_takes_part_only_by_its_whole_name(self):
        names = {a["name"] for a in self.results(*SMALL, "--with", "all", "--rounds", "1")[1]["allocators"]}
        linked_in = [name for name in names if name in ("mimalloc-inline", "snmalloc-inline")]
        if not linked_in or "mimalloc" not in names:
            self.skipTest("no malloc is linked in here")
        for word, others in (("mimalloc", set(linked_in)), (linked_in[0], {"mimalloc"})):
            _, run = self.results(*SMALL, "--with", word, "--rounds", "1")
            chosen = {a["name"] for a in run["allocators"]}
            self.assertIn(word, chosen)
            self.assertFalse(others & chosen)

    def test_threads_and_sizes_replace_the_sources_own(self):
        self.assertEqual(self.rows("--only", "002_fixed", "--threads", "1,3", "--sizes", "40"),
                         {("002_fixed", "40"), ("002_fixed", "40/threads/3")})

    def test_a_largest_size_of_ones_own_makes_a_group_of_its_own(self):
        self.assertEqual(self.rows("--only", "001", "--threads", "2", "--sizes", "700,300"),
                         {("001_300", "300/threads/2"), ("001_700", "700/threads/2")})

    def test_cold_rows_and_warm_rows_can_be_had_alone(self):
        cold = self.rows("--only", "001_1024", "--cold")
        warm = self.rows("--only", "001_1024", "--warm")
        self.assertEqual(cold, {("001_1024", "cold/1024")})
        self.assertEqual(len(warm), 4)
        self.assertEqual(self.rows("--only", "001_1024"), cold | warm)

    def test_pinned_threads_still_work(self):
        self.assertTrue(self.rows("--only", "scaling", "--threads", "1,4", "--pin"))

    def test_tarn_and_glibc_are_there_unless_they_are_left_out(self):
        _, run = self.results("--with", "none", *SMALL)
        self.assertEqual([a["name"] for a in run["allocators"]], ["tarn", "tarn-inline", "glibc"])
        _, run = self.results("--with", "none", "--without", "glibc,tarn-inline", *SMALL)
        self.assertEqual([a["name"] for a in run["allocators"]], ["tarn"])

    def test_a_library_of_ones_own_is_called_as_one_likes(self):
        _, run = self.results("--with", f"mine={os.path.realpath(TARN)}", *SMALL)
        names = {a["name"]: a["kind"] for a in run["allocators"]}
        self.assertEqual(names["mine"], "general")

    def test_pools_are_chosen_by_name_or_library(self):
        _, run = self.results("--with", "boost", "--only", "003_fixed", "--sizes", "64")
        names = {a["name"] for a in run["allocators"]}
        self.assertLessEqual({"boost-pool", "boost-singleton", "tarn-fixed", "glibc"}, names)
        self.assertFalse({"loki", "pmr-synchronized", "mimalloc"} & names)


class Results(BenchTest):
    def test_the_summary_is_that_of_the_runs(self):
        _, run = self.results("--rounds", "3", "--with", "none", *SMALL)
        self.assertEqual((run["schema"], run["rounds"], run["rounds_done"]), ("tarn bench", 3, 3))
        self.assertFalse(run["interrupted"])
        self.assertLessEqual({"cpu", "cores", "governor", "transparent_huge_pages", "kernel", "glibc"},
                             set(run["machine"]))
        for group in run["groups"]:
            for row in group["rows"]:
                medians = []
                for allocator in row["allocators"]:
                    samples = sorted(one[row["metric"]] for one in allocator["runs"])
                    self.assertEqual(len(samples), 3)
                    self.assertAlmostEqual(allocator["summary"][row["metric"]]["median"], samples[1])
                    medians.append(samples[1])
                for allocator, median in zip(row["allocators"], medians):
                    self.assertAlmostEqual(allocator["summary"][row["metric"]]["ratio_to_best"],
                                           median / min(medians), places=4)

    def test_tables_and_page_can_be_made_again_from_the_json(self):
        page, page_again, json_again = (self.scratch / name for name in ("1.html", "2.html", "2.json"))
        first, _ = self.results("-o", page, "--with", "none", *SMALL)
        again = self.bench("--from", self.json, "-o", page_again, "-o", json_again)
        self.assertEqual(again.returncode, 0, again.stderr)
        tables = first.stdout.partition("not installed")[0]
        self.assertEqual(again.stdout, tables)
        self.assertEqual(page_again.read_text(), page.read_text())
        self.assertEqual(json_again.read_text(), self.json.read_text())

    def test_every_row_is_printed_where_that_is_asked_for(self):
        result = self.bench(*TINY, "--rounds", "2", "--with", "none", "--rows", *SMALL)
        self.assertRegex(result.stdout, r"(?m)^64/threads/4 .*±.*\*")
        self.assertIn("ns per a pair of allocate and free", result.stdout)


class Traces(BenchTest):
    ONLY = ["--only", "traces", "--with", "none"]

    def setUp(self):
        super().setUp()
        self.folder = self.scratch / "traces"
        self.folder.mkdir()

    def make(self, name, rounds=1000):
        file = self.folder / name
        self.run_program(MAKER, file, rounds, check=True)
        return file

    def traces(self, *words):
        return self.results("--traces", self.folder, *words)

    def test_each_trace_of_a_folder_is_a_row_of_time_and_one_of_memory(self):
        self.make("b.trace")
        self.make("a.trace", 2000)
        (self.folder / "traces.json").write_text("this is no trace, and not called one")
        result, run = self.traces(*self.ONLY, "-o", self.scratch / "page.html")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual([(g["group"], [(r["row"], r["metric"], r["threads"]) for r in g["rows"]])
                          for g in run["groups"]],
                         [("traces", [("a", "ns", 2), ("b", "ns", 2)]),
                          ("traces_memory", [("a", "resident_per_byte", 2), ("b", "resident_per_byte", 2)])])
        for group, rounds in zip(run["groups"], (2, 1)):
            for row in group["rows"]:
                self.assertEqual([a["name"] for a in row["allocators"]], ["tarn", "glibc"])
                for allocator in row["allocators"]:
                    self.assertEqual(len(allocator["runs"]), rounds)
                    one = allocator["runs"][0]
                    self.assertGreater(one[row["metric"]], 0)
                    self.assertGreater(one["peak_rss_bytes"], one["peak_live_bytes"])
        self.assertEqual([(t["row"], t["recorded_threads"]) for t in run["traces"]], [("a", 2), ("b", 2)])
        self.assertGreater(run["traces"][0]["calls"], run["traces"][1]["calls"])
        self.assertRegex(result.stdout, r"(?s)ours  .*traces.*ours-memory  .*traces_memory")

    def test_a_damaged_trace_is_one_line_and_the_others_are_measured(self):
        self.make("good.trace")
        cut = self.make("cut.trace")
        os.truncate(cut, os.path.getsize(cut) - 20)
        result, run = self.traces(*self.ONLY)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^FAILED cut in traces: .*byte \d+.*truncated.*$")
        self.assertEqual(result.stdout.count("cut.trace"), 1)
        self.assertEqual({r["row"] for g in run["groups"] for r in g["rows"]}, {"good"})
        (self.folder / "good.trace").unlink()
        self.assert_refused(self.bench("--traces", self.folder, *self.ONLY), "no whole trace in")

    def test_a_folder_without_traces_is_one_line_and_the_rest_goes_on(self):
        result, run = self.traces("--only", "t", "--threads", "1", "--with", "none", "--rounds", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("bench/record_traces.py"), 1)
        self.assertIn("thread_churn", {g["group"] for g in run["groups"]})
        self.assert_refused(self.bench("--traces", self.folder, *self.ONLY), "bench/record_traces.py")

    def test_traces_of_other_numbers_of_threads_are_left_out(self):
        self.make("two.trace")
        _, run = self.traces(*self.ONLY, "--threads", "2")
        self.assertEqual(run["groups"][0]["rows"][0]["row"], "two")
        for words in (["--threads", "1,3"], ["--sizes", "64"]):
            self.assert_refused(self.bench("--traces", self.folder, *self.ONLY, *words), "no trace in")

    def test_a_quick_run_leaves_out_long_traces(self):
        self.make("short.trace")
        os.truncate(self.make("long.trace"), 9 << 20)
        _, run = self.traces(*self.ONLY, "--quick")
        self.assertEqual({r["row"] for g in run["groups"] for r in g["rows"]}, {"short"})
        self.assertEqual(run["failures"], [])

    def test_a_library_without_a_malloc_is_not_measured_as_glibc(self):
        self.make("one.trace")
        result, run = self.traces("--only", "traces", "--with", f"bad={HARMLESS}", "--rounds", "1")
        self.assertIn("FAILED bad everywhere: could not be preloaded: it defines no malloc", result.stdout)
        self.assertNotIn("bad", {a["name"] for g in run["groups"] for r in g["rows"]
                                 for a in r["allocators"]})

    def test_a_crash_in_a_replay_is_told(self):
        self.make("one.trace")
        result, _ = self.traces("--only", "traces", "--with", f"bad={FAILING}", "--rounds", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED bad in traces: ended by SIGABRT", result.stdout)

    def test_control_c_leaves_no_files(self):
        self.make("one.trace")
        self.environment["TMPDIR"] = str(self.scratch)
        process = self.start(*self.ONLY, "--traces", self.folder, "--rounds", "1000")
        before = os.listdir(self.scratch)
        child = self.child_of(process, os.path.join(os.path.dirname(TOOL), "libexec", "tarn_replay"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=self.DEADLINE)
        self.assertEqual(process.returncode, 130)
        self.assert_is_gone(child)
        self.assertEqual(os.listdir(self.scratch), before)


class Failures(BenchTest):
    def failure(self, library, *words):
        """What is told of a bad library, and whether tarn was measured all the same."""
        result, run = self.results("--with", f"bad={library}", *SMALL, *words)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("FAILED bad", result.stdout)
        measured = {(g["group"], a["name"]) for g in run["groups"] for r in g["rows"]
                    for a in r["allocators"]}
        for group in run["groups"]:
            self.assertIn((group["group"], "tarn"), measured)
        return result.stdout, [f for f in run["failures"] if f["name"] == "bad"], measured

    def test_a_library_that_does_not_load_is_named_once(self):
        broken = self.scratch / "broken.so"
        broken.write_text("this is no library")
        output, failures, measured = self.failure(broken)
        self.assertEqual(len(failures), 1)
        self.assertIn("FAILED bad everywhere: could not be preloaded", output)
        self.assertNotIn("bad", {name for _, name in measured})

    def test_a_library_without_a_malloc_is_not_measured_as_glibc(self):
        output, failures, measured = self.failure(HARMLESS)
        self.assertEqual(len(failures), 1)
        self.assertIn("defines no malloc", output)
        self.assertNotIn("bad", {name for _, name in measured})

    def test_a_crash_at_the_start_takes_a_library_out_as_a_whole(self):
        output, failures, _ = self.failure(CRASHING)
        self.assertEqual(len(failures), 1)
        self.assertIn("ended by SIGSEGV", output)
        self.assertIn("    fake library: about to die\n", output)

    def test_a_crash_in_a_workload_takes_it_out_of_that_group(self):
        output, failures, _ = self.failure(FAILING)
        self.assertEqual({f["group"] for f in failures}, {"002_fixed", "boundary"})
        self.assertIn("FAILED bad in boundary: ended by SIGABRT", output)
        self.assertIn("    fake malloc: out of order\n", output)

    def test_wrong_blocks_are_found_and_told(self):
        output, failures, measured = self.failure(OVERLAPPING)
        self.assertIn("FAILED bad in 002_fixed: returned wrong blocks (round 1)", output)
        self.assertIn("overlaps", output)
        self.assertEqual({f["group"] for f in failures
                          if f["what"] == "returned wrong blocks"} & {"002_fixed"},
                         {"002_fixed"})
        self.assertNotIn(("002_fixed", "bad"), measured)

    def test_a_hang_is_ended_and_told(self):
        started = time.monotonic()
        output, failures, _ = self.failure(HANGING, "--timeout", "2")
        self.assertIn("timeout: killed after 2.000 s", output)
        self.assertLessEqual(len(failures), 2)
        self.assertLess(time.monotonic() - started, 60)


class Interrupts(BenchTest):
    ENDLESS = ["--only", "002_mixed", "--scale", "1", "--rounds", "1000", "--with", "none"]

    def test_control_c_tells_what_is_done_and_leaves_nothing(self):
        page = self.scratch / "page.html"
        process = self.start(*self.ENDLESS, "-o", self.json, "-o", page)
        # the second to run: there is something to tell
        child = self.child_of(process, "--group", "tarn-inline")
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=self.DEADLINE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted", output)
        self.assertIn("002  ", output)
        self.assert_is_gone(child)
        self.assertTrue(json.loads(self.json.read_text())["interrupted"])
        self.assertTrue(page.exists())

    def test_control_c_before_the_first_row_ends_it_quietly(self):
        process = self.start(*self.ENDLESS)
        child = self.child_of(process, "--list")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=self.DEADLINE), ("", ""))
        self.assertEqual(process.returncode, 130)
        self.assert_is_gone(child)

    def test_a_killed_run_leaves_no_process(self):
        process = self.start(*self.ENDLESS)
        child = self.child_of(process, "--group", "malloc")
        process.kill()
        process.communicate()
        self.assert_is_gone(child)


class BadInput(BenchTest):
    def test_usage_errors_are_one_line_and_status_2(self):
        folder, full = self.scratch / "folder.html", self.scratch / "full.html"
        folder.mkdir()
        full.symlink_to("/dev/full")
        for words, text in [(["--only", "005"], "--only 005: no benchmark of that name"),
                            (["--with", "nomalloc"], "unknown allocator 'nomalloc'"),
                            (["--with", "/nowhere/lib.so"], "no library at '/nowhere/lib.so'"),
                            (["--without", "nomalloc"], "--without nomalloc"),
                            (["--scale", "0"], "--scale takes"), (["--scale", "-1"], "--scale takes"),
                            (["--scale", "nan"], "--scale"), (["--scale", "1e9"], "--scale takes"),
                            (["--rounds", "0"], "--rounds takes"), (["--threads", "0"], "--threads takes"),
                            (["--threads", "1,many"], "--threads takes"),
                            (["--threads", "100000"], "--threads takes"),
                            (["--sizes", "0"], "--sizes takes"),
                            (["--sizes", "99999999999"], "--sizes takes"),
                            (["--timeout", "0"], "--timeout"), (["--cold", "--warm"], "exclude each other"),
                            (["--only", "003_fixed", "--sizes", "63"], "--only 003_fixed"),
                            (["--traces", "/nowhere"], "no folder at '/nowhere'"),
                            (["-o", "/nowhere/page.html"], "cannot write /nowhere/page.html"),
                            (["-o", folder], "directory"),
                            (["-o", full], "no space"), (["-o", "page.pdf"], "names no form"),
                            (["--from", "/nowhere.json"], "cannot read '/nowhere.json'"),
                            (["--frobnicate"], "--frobnicate"), (["what"], "'what'")]:
            with self.subTest(words=words):
                self.assert_refused(self.bench(*words), text)

    def test_a_file_that_is_no_result_is_refused(self):
        for content, text in [("{", "is no JSON"), ("{}", "is no result of `tarn bench`"),
                              ('{"schema":"tarn bench"}', "is no result of `tarn bench`")]:
            file = self.scratch / "x.json"
            file.write_text(content)
            self.assert_refused(self.bench("--from", file), text)

    def test_without_the_programs_nothing_runs(self):
        self.assert_refused(self.bench(TARN_BENCH_PROGRAMS=self.scratch), "TARN_BENCH_PROGRAMS")

    def test_a_full_disk_is_found_before_anything_is_measured(self):
        mount = self.scratch / "disk"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("only root may mount a small disk")
        self.addCleanup(subprocess.run, ["umount", mount], check=False)
        started = time.monotonic()
        self.assert_refused(self.bench("-o", f"{mount}/page.html"), "no space")
        self.assertLess(time.monotonic() - started, 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
