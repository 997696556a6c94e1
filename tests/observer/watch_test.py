"""`tarn watch`: a line for each look, thresholds, and the command that they run."""

import json
import os
import shutil
import signal
import unittest

from tool import ToolTest

PROGRAM = os.environ["TARN_TEST_PROGRAM"]
GROWN = "live=5M"  # less than that before the program grows, more afterwards


class Watch(ToolTest):
    DEADLINE = 30

    def start_target(self, name=f"watched_{os.getpid()}"):
        self.name = name
        file = self.scratch / name
        if not file.exists():
            shutil.copy(PROGRAM, file)
        return self.start_program(file, says="ready\n")

    def grow(self, target):
        target.stdin.write("grow\n")
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), "done\n")

    def watch(self, target, *words):
        return self.start_tarn("watch", target, "--every", 0.1, *words)

    def look(self, watching, is_wanted=lambda look: True):
        """The next line of JSON that is wanted."""
        return self.wait_until(lambda: is_wanted(found := json.loads(watching.stdout.readline())) and found)

    def test_each_look_is_a_line_and_count_ends_it(self):
        target = self.start_target()
        result = self.tarn("watch", target.pid, "--every", 0.1, "--count", 3)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0].split(), "RSS live cached free metadata not tarn".split())
        self.assertEqual(len(lines), 4)
        for line in lines[1:]:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(  +[\d,.]+ [KMG]?i?B){6}$")
            self.assertEqual(len(line), len(lines[0]))

    def test_json_has_the_parts_as_ps_has_them(self):
        target = self.start_target()
        self.wait_until_it_sleeps(target.pid)
        look = json.loads(self.tarn("watch", target.pid, "--count", 1, "--json").stdout)
        process = self.json_of("ps", self.name)["processes"][0]
        self.assertEqual(look.keys() - process.keys(), {"schema", "version", "time", "is_up", "above"})
        self.assertEqual((look["pid"], look["program"], look["is_up"]), (target.pid, self.name, True))
        self.assertEqual(look["parts"]["live"], process["parts"]["live"])

    def test_a_crossing_is_a_line_and_runs_the_command_once(self):
        target = self.start_target()
        told = self.scratch / "told"
        command = f'echo "$TARN_WATCH_WHAT $TARN_WATCH_BYTES $TARN_WATCH_ABOVE $TARN_WATCH_PID" >>{told}; ' \
                  f'echo "$TARN_WATCH_JSON" >>{told}; echo said; exit 3'
        watching = self.watch(target.pid, "--above", GROWN, "--above", "rss=999G", "--run", command)
        watching.stdout.readline()
        self.assertNotIn("above", watching.stdout.readline())
        self.grow(target)
        self.wait_until(lambda: watching.stdout.readline().endswith("  live is above 5.00 MiB\n"))
        for _ in range(3):
            self.assertNotIn("above", watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        self.assertEqual(watching.wait(self.DEADLINE), 0)
        self.assertEqual(watching.stderr.read(), "said\ntarn: the command failed: status 3\n")
        figures, document = told.read_text().splitlines()
        what, now, above, pid = figures.split()
        self.assertEqual((what, int(above), int(pid)), ("live", 5 << 20, target.pid))
        self.assertEqual(json.loads(document)["parts"]["live"], int(now))

    def test_a_name_is_no_word_of_the_shell(self):
        target = self.start_target("a$(exit 7)`b`;c")
        result = self.tarn("watch", target.pid, "--count", 1, "--above", "live=1", "--run",
                           'printf %s\\\\n "$TARN_WATCH_PROGRAM"')
        self.assertEqual(result.stderr, f"{self.name}\n")

    def test_a_name_is_followed_and_a_threshold_counts_anew(self):
        target = self.start_target()
        watching = self.watch(self.name, "--json", "--above", "live=1")
        self.assertEqual(self.look(watching)["above"], ["live"])
        self.end(target)
        gone = self.look(watching, lambda look: not look["is_up"])
        self.assertIn("tarn", gone["why"])
        self.assertEqual(gone["above"], [])
        target = self.start_target()
        self.assertEqual(self.look(watching, lambda look: look["is_up"])["pid"], target.pid)

    def test_a_threshold_counts_anew_for_a_process_that_came_between_two_looks(self):
        target = self.start_target()
        watching = self.start_tarn("watch", self.name, "--every", 2, "--count", 3, "--above", "live=1",
                                   "--run", "echo told")
        self.assertEqual(watching.stderr.readline(), "told\n")
        self.end(target)
        self.start_target()
        self.assertEqual(watching.stderr.readline(), "told\n")

    def test_the_command_is_not_run_for_a_process_that_has_ended_meanwhile(self):
        target = self.start_target()
        end = "kill -9 $TARN_WATCH_PID; until grep -q ^State:.Z /proc/$TARN_WATCH_PID/status; do :; done"
        result = self.tarn("watch", target.pid, "--count", 1, "--above", "live=1", "--above", "rss=1",
                           "--run", f"echo $TARN_WATCH_WHAT; {end}")
        self.assertEqual(result.stderr,
                         f"live\ntarn: the command is not run: process {target.pid} has ended\n")

    def test_it_ends_with_a_process_that_was_named_by_its_number(self):
        target = self.start_target()
        watching = self.watch(target.pid)
        watching.stdout.readline()
        self.end(target)
        self.assertRegex(watching.stdout.read().splitlines()[-1], rf"Z  process {target.pid} .*has ended")
        self.assertEqual(watching.wait(self.DEADLINE), 0)

    def test_a_signal_ends_it_with_its_command(self):
        target = self.start_target()
        mark = self.scratch / "mark"
        watching = self.watch(target.pid, "--above", "live=1", "--run", f"echo $$ >{mark}; sleep 60")
        self.wait_until(lambda: mark.exists() and mark.read_text())
        watching.send_signal(signal.SIGTERM)
        self.assertEqual(watching.wait(self.DEADLINE), 0)
        self.assert_is_gone(mark.read_text().strip())

    def test_each_process_of_a_cgroup_is_a_line_and_the_cgroup_one(self):
        first, second = self.start_target(), self.start_target()
        other = self.start_program("sleep", 60)
        group = self.make_cgroup(first.pid, second.pid, other.pid, memory=3 << 20, most=8 << 20)
        result = self.tarn("watch", "--cgroup", group, "--count", 1)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()[1:]
        for line, pid in zip(lines, sorted((first.pid, second.pid)), strict=False):
            self.assertRegex(line, rf"^\S+Z(  +[\d,.]+ [KMG]?i?B){{6}}  {self.name} {pid}$")
        self.assertRegex(lines[2], rf"^\S+Z  3.00 MiB of 8.00 MiB in {group}: 2 of 3 processes run on tarn$")

    def test_thresholds_are_of_each_process_and_of_the_cgroup(self):
        still, growing = self.start_target(), self.start_target()
        group = self.make_cgroup(still.pid, growing.pid, memory=1 << 20)
        told = self.scratch / "told"
        words = '"$TARN_WATCH_WHAT $TARN_WATCH_BYTES $TARN_WATCH_PID/$TARN_WATCH_PROGRAM $TARN_WATCH_CGROUP"'
        watching = self.start_tarn("watch", "--cgroup", group, "--every", 0.1, "--above", GROWN, "--above",
                                   "cgroup=2M", "--run", f"echo {words} >>{told}")
        watching.stdout.readline()
        self.grow(growing)

        def wait_for(end):
            self.wait_until(lambda: watching.stdout.readline().endswith(f"  {end} MiB\n"))

        wait_for(f"live of {growing.pid} is above 5.00")
        self.make_cgroup(still.pid, growing.pid, memory=(2 << 20) + 1)
        wait_for("cgroup is above 2.00")
        self.make_cgroup(still.pid, growing.pid, memory=1 << 20)
        wait_for("cgroup is no longer above 2.00")
        process, whole = told.read_text().splitlines()
        self.assertRegex(process, rf"^live \d+ {growing.pid}/{self.name} {group}$")
        self.assertEqual(whole, f"cgroup {(2 << 20) + 1} / {group}")

    def test_processes_of_a_cgroup_come_and_go_and_so_does_it(self):
        first = self.start_target()
        group = self.make_cgroup(first.pid)
        watching = self.start_tarn("watch", "--cgroup", group, "--every", 0.1, "--json", "--above", "live=1")
        self.assertEqual(self.look(watching)["pid"], first.pid)
        whole = self.look(watching)
        self.assertEqual(whole, whole | {"cgroup": str(group), "is_up": True, "memory_bytes": None,
                                         "memory_max_bytes": None, "processes": 1, "on_tarn": 1,
                                         "not_looked_at": 0, "failed": 0, "above": []})
        (group / "child").mkdir()
        second = self.start_target()
        (group / "child/cgroup.procs").write_text(f"{second.pid}\n")
        came = self.look(watching, lambda look: look.get("pid") == second.pid)
        self.assertEqual((came["above"], came["cgroup"]), (["live"], str(group)))
        self.end(first)
        self.look(watching, lambda look: look.get("on_tarn") == 1)
        self.assertEqual(self.look(watching)["pid"], second.pid)
        (group / "cgroup.procs").unlink()
        gone = self.look(watching, lambda look: not look["is_up"])
        self.assertIn("there is no cgroup", gone["why"])
        self.make_cgroup(second.pid)
        self.assertEqual(self.look(watching, lambda look: look["is_up"])["pid"], second.pid)

    def test_what_it_says_of_a_cgroup_is_printable(self):
        result = self.tarn("watch", "--cgroup", "no\x1b[2Jsuch", "--count", 1)
        self.assertRegex(result.stdout, r"Z  there is no cgroup 'no\?\[2Jsuch' below ")

    def test_a_cgroup_of_the_kernels_is_read(self):
        target = self.start_target()
        group = self.make_real_cgroup(target.pid)
        looks = self.tarn("watch", "--cgroup", group.name, "--count", 1, "--json").stdout.splitlines()
        process, whole = map(json.loads, looks)
        self.assertEqual((process["pid"], whole["processes"], whole["on_tarn"]), (target.pid, 1, 1))

    def test_wrong_words_are_one_line(self):
        self.assert_one_line(self.tarn("watch", "1", "--cgroup", "/x"), 2, "PID|NAME excludes --cgroup")
        self.assert_one_line(self.tarn("watch", "1", "--above", "cgroup=1"), 2, "not 'cgroup=1'")
        self.assert_one_line(self.tarn("watch", "--cgroup", "/x", "--above", "x=1"), 2, "or cgroup=2G, not")
        for words, text in [(["--above", "rss"], "--above takes rss=2G"), (["--above", "speed=1"], "speed=1"),
                            (["--above", "rss=-1"], "rss=-1"), (["--every", "0"], "--every takes"),
                            (["--run", "true"], "--above"), (["--count", "0"], "--count takes"),
                            (["--core", PROGRAM], "--core")]:
            self.assert_one_line(self.tarn("watch", "no_such_program", *words), 2, text)


if __name__ == "__main__":
    unittest.main()
