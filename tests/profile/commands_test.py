"""`tarn profile`, `tarn run --profile` and `tarn run --leaks` on programs that run on the library."""
import gzip
import json
import os
import pathlib
import re
import signal
import time
import unittest

from tool import ToolTest

BUSY, LEAKY, ORDINARY = (os.environ[f"TARN_TEST_{name}"] for name in ("BUSY", "LEAKY", "ORDINARY"))
LIVE = 4_000
SITES = {"small_site": 100, "medium_site": 3_000, "pool_site": 500, "heap_site": 700}


def site_of(stack):
    return next((site for site in SITES if any(site in frame["function"] for frame in stack["frames"])), None)


class Profile(ToolTest):
    def busy(self, seconds=60, *words, **environment):
        """The busy program, past its set-up."""
        return self.start_program(BUSY, seconds, *words, says="ready\n", **environment)

    def live_by_site(self, document):
        bytes_of = dict.fromkeys(SITES, 0)
        for stack in document["stacks"]:
            if site_of(stack) is not None:
                bytes_of[site_of(stack)] += stack["live"]["bytes"]
        return bytes_of

    def test_every_site_is_seen_with_its_live_bytes(self):
        busy = self.busy()
        run = self.tarn("profile", busy.pid, "--for", 3, "--interval", "16K", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = self.live_by_site(json.loads(run.stdout))
        for site, size in SITES.items():
            truth = LIVE * size
            deviation = (truth * 16384) ** 0.5  # of a Poisson process, bytes
            self.assertAlmostEqual(found[site], truth, delta=5 * deviation, msg=site)

    def test_a_table_of_size_classes_can_be_made_from_the_live_sizes(self):
        profile, table = self.scratch / "heap.json", self.scratch / "my.classes"
        busy = self.busy(TARN_PROFILE="1")
        self.tarn("profile", busy.pid, "--for", 0.1, "-o", profile)
        count_of = {live["size"]: live["count"] for live in json.loads(profile.read_text())["live_sizes"]}
        for size in (SITES["small_site"], SITES["medium_site"]):
            self.assertAlmostEqual(count_of[size], LIVE, delta=LIVE / 100)
        for size in (SITES["pool_site"], SITES["heap_site"]):
            self.assertLess(count_of.get(size, 0), LIVE / 100, "no block of the general pool's classes")
        run = self.tarn("classes", "--fit", profile, "-o", table)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("3008", table.read_text().split(), "the class for 3000 bytes")

    def test_pools_are_told_by_their_names(self):
        busy = self.busy()
        run = self.tarn("profile", busy.pid, "--for", 2, "--interval", "16K", "--json")
        pools = {site_of(stack): stack["pool"] for stack in json.loads(run.stdout)["stacks"]}
        self.assertIn('"packets"', pools["pool_site"])
        self.assertIn('"level"', pools["heap_site"])
        self.assertIsNone(pools["small_site"])

    def test_a_profile_is_switched_off_and_leaves_nothing_on(self):
        busy = self.busy()
        for _ in range(3):
            self.assertEqual(self.tarn("profile", busy.pid, "--for", 0.3, "--interval", "4K").returncode, 0)
        time.sleep(0.5)
        run = self.tarn("profile", busy.pid, "--for", 0.5, "--interval", "1G", "--json")
        older = [stack for stack in json.loads(run.stdout)["stacks"] if site_of(stack) == "medium_site"]
        # A sample of this profile would stand for the interval, or more.
        self.assertEqual([stack for stack in older if 0 < stack["live"]["bytes"] < 2**30], [])

    def test_files_are_written_in_the_form_that_their_ending_names(self):
        names = ["heap.pb.gz", "heap.folded", "heap.speedscope.json", "heap.html", "heap.json"]
        files = [self.scratch / name for name in names]
        busy = self.busy()
        words = [word for file in files for word in ("-o", file)]
        run = self.tarn("profile", busy.pid, "--for", 1, "--interval", "16K", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        pprof, folded, speedscope, page, document = files
        self.assertIn(b"medium_site", gzip.decompress(pprof.read_bytes()))
        self.assertIn("medium_site", folded.read_text())
        self.assertIn("speedscope", json.loads(speedscope.read_text())["$schema"])
        self.assertTrue(page.read_text().startswith("<!"))
        self.assertEqual(json.loads(document.read_text())["schema"], "tarn profile")

    def test_an_interrupt_ends_it_early_and_writes_it(self):
        file = self.scratch / "heap.folded"
        busy = self.busy()
        tool = self.start_tarn("profile", busy.pid, "--for", 600, "--interval", "16K", "-o", file)
        time.sleep(2)
        tool.send_signal(signal.SIGINT)
        tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, 0)
        self.assertIn("medium_site", file.read_text())

    def test_a_process_that_ends_meanwhile_is_one_line(self):
        busy = self.busy(2)
        run = self.tarn("profile", busy.pid, "--for", 60)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("the process ended", run.stderr)

    def test_a_program_that_only_hits_is_reached_with_stop(self):
        busy = self.busy(60, "hits", TARN_BACKGROUND="0")
        run = self.tarn("profile", busy.pid, "--for", 1, "--interval", "16K", "--stop", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        stacks = json.loads(run.stdout)["stacks"]
        allocated = sum(stack["allocated"]["blocks"] for stack in stacks if site_of(stack) == "small_site")
        self.assertGreater(allocated, 100_000)

    def test_what_makes_no_sense_is_one_line(self):
        busy = self.busy()
        for words, message in (
                (("--interval", "0"), "no distance of two samples"),
                (("-o", "heap.xyz"), "its ending names no form"),
                (("--for", "-1"), "--for"),
                (("-o", self.scratch / "missing" / "heap.json"), "missing")):
            run = self.tarn("profile", busy.pid, *words)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(message, run.stderr)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)

    def test_a_program_without_the_library_is_one_line(self):
        run = self.tarn("profile", self.start_program("sleep", 60).pid, "--for", 1)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("runs without tarn", run.stderr)

    def test_run_tells_who_allocated(self):
        file = self.scratch / "heap.json"
        run = self.tarn("run", "--profile", "64K", "-o", file, "--", BUSY, 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, "  medium_site +busy.cc:")
        one = self.tarn("run", "--profile", "64K", "--top", 1, "--", BUSY, 1).stderr
        self.assertRegex(one, r"and \d+ more sites\n")
        self.assertEqual(one.count(" busy.cc:"), 1, one)
        document = json.loads(file.read_text())
        allocated = {site_of(stack): stack["allocated"]["bytes"] for stack in document["stacks"]}
        # Each site makes as many blocks.
        self.assertAlmostEqual(allocated["medium_site"] / allocated["heap_site"], 3_000 / 700, delta=0.5)

    def test_a_profile_from_the_start_is_read_from_a_running_process(self):
        busy = self.busy(TARN_PROFILE="16K")
        run = self.tarn("profile", busy.pid, "--for", 1, "--json")
        self.assertIn("is on already", run.stderr)
        self.assertGreater(self.live_by_site(json.loads(run.stdout))["medium_site"], LIVE * 2_000)


    def test_types_trees_and_callers_are_told(self):
        busy = self.busy(60)
        table = self.tarn("profile", busy.pid, "--for", "300ms", "--interval", "16K", "--types")
        self.assertIn("the type is known of", table.stdout)
        self.assertRegex(table.stdout, r"±\d+ %  no type: .*medium_site")
        tree = self.tarn("profile", busy.pid, "--for", "300ms", "--interval", "16K", "--tree").stdout
        self.assertLess(tree.index(" main "), tree.index("medium_site"))
        callers = self.tarn("profile", busy.pid, "--for", "300ms", "--interval", "16K",
                            "--callers", "medium_site").stdout
        self.assertTrue(callers.splitlines()[0].endswith("callers of medium_site"), callers)
        self.assertLess(callers.rindex("medium_site"), callers.index(" main "))
        skip = self.scratch / "skip.txt"
        skip.write_text("# what makes blocks\n_site\n")
        rows = self.tarn("profile", busy.pid, "--for", "300ms", "--interval", "16K", "--skip", skip).stdout
        self.assertIn("medium_site", rows[rows.index("Skipped as forms of malloc"):])
        self.assertNotIn("medium_site", rows[:rows.index("Skipped as forms of malloc")])

    def test_most_bytes_of_an_ordinary_server_have_a_type(self):
        server = self.start_program(ORDINARY, 60, says="ready\n", TARN_PROFILE="4K")
        text = self.tarn("heap", server.pid).stdout
        self.assertGreater(float(re.search(r"the type is known of ([0-9.]+) %", text).group(1)), 80, text)
        for type_name in ("std::string", "shop::Item", "hash node of std::pair<int const, shop::Order>",
                          "tree node of std::pair<std::string const, shop::Price>", "shared shop::Session",
                          "shop::Visitor"):
            self.assertIn(type_name, text)

    def test_the_peak_outlives_the_program(self):
        busy = self.busy(3)
        run = self.tarn("profile", busy.pid, "--for", "60s", "--interval", "16K", "--peak")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("the process ended", run.stderr)
        self.assertIn("medium_site", run.stdout)

    def test_the_walk_through_says_what_an_ordinary_program_shows(self):
        """Its commands, one by one: each names what the page says of it."""
        page = (pathlib.Path(__file__).parents[2] / "docs/look/walk_through.md").read_text()
        section = page[page.index("## Of structures and strings"):].split("```")[1]
        server = self.start_program(ORDINARY, 60, says="ready\n")
        commands = re.findall(r"(?m)^\$ tarn (.*)\n((?:[^$].*\n|\n)*)", section)
        self.assertEqual(len(commands), 3)
        for words, said in commands:
            words = re.sub(r"--for \d+s", "--for 2s", words.replace("server", str(server.pid)))
            output = self.tarn(*words.split()).stdout
            names = re.findall(r"tarn profile server [-a-z]+|(?:shop|std)::\w+(?:::\w+)?", said)
            self.assertTrue(names)
            for name in names:
                self.assertIn(name.replace("server", str(server.pid)), output)

    def test_growth_has_bars_and_lifetimes_tell_who_keeps_what(self):
        server = self.start_program(ORDINARY, 60, says="ready\n")
        growth = self.tarn("profile", server.pid, "--for", "4s", "--interval", "4K", "--growth",
                           "-o", self.scratch / "grown.json")
        self.assertRegex(growth.stdout, r"(?m)^ +\+.* [▁▂▃▄▅▆▇█]{8}  shop::Shop::open_session \(ordinary.cc")
        over_time = json.loads((self.scratch / "grown.json").read_text())["over_time"]
        self.assertGreater(len(over_time["seconds"]), 5)
        self.assertTrue(all(len(site["bytes"]) == len(over_time["seconds"]) for site in over_time["sites"]))
        lives = self.tarn("profile", server.pid, "--for", "2s", "--interval", "4K", "--lifetimes").stdout
        kept = re.search(r"(?m)^.*B +[±≥](\d+) %.* ([\d.]+) %  shop::Shop::open_session \(ordinary.cc:58\)",
                         lives)
        self.assertLess(int(kept[1]), 100, lives)
        self.assertGreater(float(kept[2]), 90, lives)
        refused = self.tarn("profile", server.pid, "--lifetimes", "--interval", "1")
        self.assert_one_line(refused, 2, "--interval 64")

    def test_the_interval_fits_the_program(self):
        # It allocates some MB a second, on any machine: 512 KiB would be few samples.
        server = self.start_program(ORDINARY, 60, says="ready\n")
        document = json.loads(self.tarn("profile", server.pid, "--for", "2s", "--json").stdout)
        self.assertLess(document["interval_bytes"], 512 << 10)
        self.assertEqual((document["version"], document["library"][:2]), (1, "0."))


class Timeline(ToolTest):
    def test_a_timeline_is_of_a_running_process(self):
        file = self.scratch / "x.perfetto.json"
        busy = self.start_program(BUSY, 60, says="ready\n")
        run = self.tarn("profile", busy.pid, "--for", 1, "-o", file)
        self.assertEqual(run.returncode, 0, run.stderr)
        counters = [event for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "C"]
        self.assertGreater(len(counters), 5)
        self.assertLess(max(event["ts"] for event in counters), 5_000_000)
        self.assertTrue(any("medium_site" in series for series in counters[-1]["args"]), counters[-1])
        run = self.tarn("run", "--profile", "-o", file, "--", "true")
        self.assertEqual(run.returncode, 2)
        self.assertIn("timeline", run.stderr)


class Diff(ToolTest):
    def write(self, name, stacks, schema="tarn profile"):
        file = self.scratch / name
        file.write_text(json.dumps({
            "schema": schema, "version": 1, "library": "0.1.0", "program": "server", "stacks": [
                {"pool": None, "live": {"blocks": bytes // 10, "bytes": bytes},
                 "frames": [{"function": site, "file": "a.cc", "line": line}, {"function": "main"}]}
                for site, line, bytes in stacks]}))
        return file

    def test_profiles_are_compared_by_functions(self):
        before = self.write("before.json", [("zmalloc", 1, 500), ("app::Cache::add(int)", 10, 1000)])
        after = self.write("after.json", [("zmalloc", 2, 500), ("app::Cache::add(int)", 14, 51000)])
        run = self.tarn("diff", before, after)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"\+48\.8 KiB +\+5,000  app::Cache::add \(a\.cc:14\)")
        self.assertNotIn("zmalloc", run.stdout)
        self.assertEqual(run.stdout.count("Cache::add"), 1, "its line has changed, and is no row of its own")
        by_lines = json.loads(self.tarn("diff", before, after, "--by-lines", "--json").stdout)
        self.assertEqual(len(by_lines["stacks"]), 4)
        self.assertEqual(by_lines["schema"], "tarn profile growth")

    def test_what_cannot_be_compared_is_one_line(self):
        profile = self.write("profile.json", [])
        busy = self.start_program(BUSY, 60, says="ready\n")
        for words, says in ((("profile", busy.pid, "--for", "300ms", "--json", "--tree"), "--tree"),
                            (("profile", busy.pid, "--skip", self.scratch / "missing"), "cannot be read")):
            run = self.tarn(*words)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(says, run.stderr)
        damaged = self.write("damaged.json", [])
        damaged.write_text(damaged.read_text().replace('"stacks"', '"stocks"'))
        for other, says in ((self.scratch / "nowhere.json", "cannot be read"),
                            (self.write("heap.json", [], "tarn heap"), "only two of a kind"),
                            (self.write("top.json", [], "tarn top"), "is of tarn profile"),
                            (self.write("other.json", [], "tarn doctor"), "nothing to compare"),
                            (damaged, "damaged")):
            run = self.tarn("diff", profile, other)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(says, run.stderr)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)

    def test_heaps_that_were_saved_are_compared(self):
        busy = self.start_program(BUSY, 60, says="ready\n")
        files = [self.scratch / "a.json", self.scratch / "b.json"]
        for file in files:
            self.assertEqual(self.tarn("heap", busy.pid, "--save", file).returncode, 0)
        run = self.tarn("diff", *files)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("busy", run.stdout)
        self.assertIn("no stacks", self.tarn("diff", *files, "--by-lines").stderr)

    def test_snapshots_are_compared(self):
        busy = self.start_program(BUSY, 60, says="ready\n")
        for command, total in (("top", "live_blocks"), ("map", "resident")):
            files = [self.scratch / f"{command}_{i}.json" for i in range(2)]
            for file in files:
                words = ("--once", "--json") if command == "top" else ("--json",)
                file.write_text(self.tarn(command, busy.pid, *words).stdout)
            run = self.tarn("diff", *files)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(f" {busy.pid})", run.stdout)
            changes = json.loads(self.tarn("diff", *files, "--json").stdout)
            self.assertEqual(changes["schema"], f"tarn {command} growth")
            self.assertGreater(changes["totals"][total]["after"], LIVE)

    def test_traces_are_compared(self):
        files = [self.scratch / "a.trace", self.scratch / "b.trace"]
        for file, seconds in zip(files, (1, 2)):
            run = self.tarn("record", "-o", file, "--", BUSY, seconds)
            self.assertEqual(run.returncode, 0, run.stderr)
        changes = json.loads(self.tarn("diff", *files, "--json").stdout)
        self.assertEqual(changes["schema"], "tarn record growth")
        self.assertGreater(changes["totals"]["frees"]["before"], 0)
        self.assertRegex(self.tarn("diff", *files).stdout, r"B  bytes asked for\n")


class Guard(ToolTest):
    def guard(self, *words):
        run = self.tarn("guard", *words, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_blocks_are_guarded_until_it_is_switched_off(self):
        busy = self.start_program(BUSY, 60, says="ready\n")
        self.assertEqual((self.guard(busy.pid)["one_in"], self.guard(busy.pid)["made"]), (0, 0))
        self.assertEqual(self.guard(busy.pid, "--one-in", 100)["one_in"], 100)
        time.sleep(1)
        on = self.guard(busy.pid)
        self.assertGreater(on["made"], 5)
        self.assertEqual(self.guard(busy.pid, "--off")["one_in"], 0)
        time.sleep(0.2)
        made = self.guard(busy.pid)["made"]
        time.sleep(0.5)
        self.assertEqual(self.guard(busy.pid)["made"], made)

    def test_the_option_guards_from_the_start(self):
        busy = self.start_program(BUSY, 60, says="ready\n", TARN_GUARD="90")
        time.sleep(0.5)
        run = self.tarn("guard", busy.pid)
        self.assertIn("one block in 90 gets a guard", run.stdout)
        self.assertGreater(self.guard(busy.pid)["made"], 5)

    def test_what_makes_no_sense_is_one_line(self):
        busy = self.start_program(BUSY, 60, says="ready\n", TARN_CHECK="1")
        for words, message in (((busy.pid, "--one-in", "5000"), "no block is guarded"),
                               ((busy.pid, "--one-in", "5", "--off"), "excludes"),
                               ((busy.pid, "--one-in", "-5"), "--one-in")):
            run = self.tarn("guard", *words)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(message, run.stderr)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)


class Leaks(ToolTest):
    def leaks(self, *words):
        return self.result_and_json("run", "--leaks", *words)

    def blocks_of(self, document, function):
        return sum(leak["blocks"] for leak in document["leaks"]
                   if any(function in frame["function"] for frame in leak["frames"]))

    def test_lost_blocks_are_found_with_the_stacks_that_made_them(self):
        run, document = self.leaks("--", LEAKY, 0)
        self.assertEqual(run.returncode, 23, run.stderr)
        self.assertGreaterEqual(self.blocks_of(document, "lose_quest"), 990)
        self.assertGreaterEqual(self.blocks_of(document, "lose_packet"), 495)
        self.assertIn("lose_quest", run.stderr)

    def test_what_something_points_to_is_none(self):
        _, document = self.leaks("--", LEAKY, 0)
        self.assertEqual(self.blocks_of(document, "_M_create"), 0)

    def test_a_failing_program_keeps_its_status(self):
        run, _ = self.leaks("--", LEAKY, 7)
        self.assertEqual(run.returncode, 7)

    def test_a_clean_program_succeeds(self):
        run, document = self.leaks("--", "/bin/true")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(document["leaks"], [])

    def test_suppressed_leaks_are_none(self):
        known = self.scratch / "known.txt"
        known.write_text("# known\nleak:lose_quest\nleak:lose_packet\nleak:libstdc++\n")
        run, document = self.leaks("--suppressions", known, "--", LEAKY, 0)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(document["leaks"], [])

    def test_a_bad_suppression_names_its_line(self):
        known = self.scratch / "known.txt"
        known.write_text("leak:a\nrace:b\n")
        run = self.tarn("run", "--leaks", "--suppressions", known, "--", "/bin/true")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("known.txt:2", run.stderr)

    def test_all_processes_below_are_told_by_name(self):
        for words in (f"{LEAKY} 0; exit 0", f"(exec {LEAKY} 0); exit 0", f"{LEAKY} 0 & exit 0",
                      f"setsid {LEAKY} 0 & exit 0", f"timeout 50 {LEAKY} 0; exit 0"):
            with self.subTest(words):
                run, document = self.leaks("--", "sh", "-c", words)
                self.assertEqual(run.returncode, 23, run.stderr)
                self.assertRegex(run.stderr, r"tarn: leaks of profile_leaky \(\d+\):\n")
                self.assertGreaterEqual(self.blocks_of(document, "lose_quest"), 990)
                self.assertEqual(document["not_looked_at"], [])
                names = [process["name"] for process in document["processes"]]
                self.assertIn("profile_leaky", names)

    def test_the_same_leaks_of_several_processes_are_written_once(self):
        run, document = self.leaks("--", "sh", "-c", f"{LEAKY} 0 & {LEAKY} 0 & {LEAKY} 0 & wait")
        self.assertEqual(run.returncode, 23)
        self.assertGreaterEqual(self.blocks_of(document, "lose_quest"), 3 * 990)
        self.assertEqual([p["name"] for p in document["processes"]].count("profile_leaky"), 3)

    def test_a_wrapper_of_a_clean_program_is_clean(self):
        run, document = self.leaks("--", "sh", "-c", "/bin/true; /bin/true")
        self.assertEqual((run.returncode, document["leaks"]), (0, []), run.stderr)
        self.assertRegex(run.stderr, r"no leaks in .*true \(\d+\)")

    def test_a_process_that_is_not_looked_at_is_named_and_fails(self):
        run, document = self.leaks("--", "sh", "-c", f"env -u TARN_PROFILE {LEAKY} 0; exit 0")
        self.assertEqual(run.returncode, 23)
        self.assertRegex(run.stderr, r"tarn: not looked at: profile_leaky \(\d+\): it sampled nothing")
        self.assertEqual([one["name"] for one in document["not_looked_at"]], ["profile_leaky"])

    def test_what_is_left_running_is_looked_at_and_runs_on(self):
        run = self.start_tarn("run", "--leaks", "--", "sh", "-c", f"{BUSY} 60 >&2 & exit 0")
        line = ""
        while "still runs" not in line:
            line = run.stderr.readline()
            self.assertNotEqual(line, "")
        run.send_signal(signal.SIGINT)
        told = ""
        while "which runs on" not in told:
            told = run.stderr.readline()
            self.assertNotEqual(told, "")
        busy = int(told[told.index("profile_busy (") + 14:].split(")")[0])
        try:
            run.wait(timeout=60)
            os.kill(busy, 0)
        finally:
            os.kill(busy, signal.SIGKILL)

    def test_a_profile_has_the_stacks_of_all_processes(self):
        file = self.scratch / "heap.folded"
        run = self.tarn("run", "--profile", 1, "-o", file, "--", "sh", "-c", f"{LEAKY} 0; exit 0")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(file.read_text(), r"(?m)^profile_leaky \(\d+\);.*lose_quest")
        self.assertRegex(file.read_text(), r"(?m)^sh \(\d+\);")

    def test_a_program_has_the_limits_of_its_caller_and_gets_what_is_sent_to_the_tool(self):
        limit = self.run_program("sh", "-c", "ulimit -d", check=True).stdout
        script = "ulimit -d; trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"
        for words in (["run", "--leaks"], ["run", "--profile"], ["record", "-o", self.scratch / "x.trace"]):
            tool = self.start_tarn(*words, "--", "sh", "-c", script)
            self.assertEqual(tool.stdout.readline(), limit, words)
            self.assertEqual(tool.stdout.readline(), "ready\n")
            tool.send_signal(signal.SIGTERM)
            self.assertEqual(tool.wait(60), 7, words)

    def test_a_killed_program_says_so_by_its_status(self):
        run = self.tarn("run", "--leaks", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(run.returncode, 128 + 9)


if __name__ == "__main__":
    unittest.main()
