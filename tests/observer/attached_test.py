"""Commands that write into a process: never into another program than the one that was looked at, with the
rights of its user alone, and only as long as they run."""

import os
import pathlib
import shutil
import signal
import unittest

from tool import ToolTest, children_of

LIBRARY, PROGRAMS = os.environ["TARN_TEST_LIBRARY"], os.environ["TARN_TEST_PROGRAMS"]
NOBODY = 65534


def worker_of(tool):
    """The process that looks; its parent only watches it."""
    return children_of(tool)[0]


class Attached(ToolTest):
    DEADLINE = 60

    def setUp(self):
        super().setUp()
        self.scratch.chmod(0o755)
        for file in (LIBRARY, f"{PROGRAMS}/watched_user", f"{PROGRAMS}/set_user_victim"):
            shutil.copy(file, self.scratch)
        self.library = self.scratch / pathlib.Path(LIBRARY).name
        self.victim = self.scratch / "set_user_victim"

    def start(self, *words, user=None, **environment):
        groups = None if user is None else []
        return self.start_program(self.scratch / "watched_user", *words, says="started\n", user=user,
                                  group=user, extra_groups=groups, LD_PRELOAD=self.library, **environment)

    def output(self, *words):
        return self.tarn(*words).stdout

    def watches(self, program):
        return self.json_of("top", program.pid, "--once")["watches"]


@unittest.skipIf(os.geteuid() != 0, "needs root, to look at others")
class OfAnotherUser(Attached):
    def becomes_victim(self, command, word, root, *how):
        self.victim.chmod(0o4755)
        page = self.run_program(self.victim, "where", check=True).stdout
        for _ in range(20):  # the kernel refuses the rights while the tool holds the process
            program = self.start("become", word, root, page.strip(), self.victim, *how, user=NOBODY)
            tool = self.start_tarn(*[program.pid if part == "PID" else part for part in command])
            runs_as = program.stdout.readline()
            self.assertIn(runs_as, ("runs as 0\n", f"runs as {NOBODY}\n"))
            tool.communicate(timeout=self.DEADLINE)
            program.stdin.close()
            self.assertEqual(program.stdout.readline(), "untouched\n")
            if runs_as == "runs as 0\n":
                return
        self.fail("it never got the rights")

    def test_a_profile_writes_nothing_into_what_the_process_became(self):
        self.becomes_victim(["profile", "PID", "--for", "1"], "observation.interval", "observation")

    def test_nor_where_another_process_keeps_the_address_space(self):
        self.becomes_victim(["profile", "PID", "--for", "1", "--stop"], "observation.interval", "observation",
                            "shared")

    def test_nor_does_a_recording(self):
        self.becomes_victim(["record", "PID", "--for", "1", "-o", str(self.scratch / "x.trace")],
                            "watch.recording", "watch")

    def test_the_tool_has_the_rights_of_that_user_alone_and_its_files_are_the_callers(self):
        hidden = self.scratch / "roots"
        hidden.mkdir(mode=0o700)
        program = self.start("busy", user=NOBODY)
        for command, file in (("profile", hidden / "x.json"), ("record", hidden / "x.trace")):
            tool = self.start_tarn(command, program.pid, "--for", 2, "-o", file)
            self.wait_until(lambda: self.watches(program))
            worker = worker_of(tool)
            status = pathlib.Path(f"/proc/{worker}/status").read_text().split("\n")
            fields = dict(line.split(":\t", 1) for line in status if ":\t" in line)
            self.assertEqual(fields["Uid"].split(), [str(NOBODY)] * 4)
            self.assertEqual(fields["Gid"].split(), [str(NOBODY)] * 4)
            self.assertEqual(fields["Groups"].split(), [str(NOBODY)])
            self.assertEqual([fields[name].strip("0") for name in ("CapPrm", "CapEff", "CapInh")], [""] * 3)
            self.assertEqual(fields["NoNewPrivs"], "1")
            self.assertEqual(pathlib.Path(f"/proc/{worker}/mem").stat().st_uid, 0)  # nobody may not look
            self.assertEqual((tool.communicate(timeout=self.DEADLINE), tool.returncode)[1], 0)
            self.assertEqual((file.stat().st_uid, file.stat().st_size > 0), (0, True))

    def test_other_commands_write_their_files_too(self):
        hidden = self.scratch / "roots"
        hidden.mkdir(mode=0o700)
        program = self.start("busy", user=NOBODY)
        self.output("heap", program.pid, "--save", hidden / "heap.json")
        self.output("map", program.pid, "-o", hidden / "map.html")
        self.assertEqual(sorted(os.listdir(hidden)), ["heap.json", "map.html"])
        self.assertEqual(self.tarn("heap", 1, "--save", hidden / "none.json").returncode, 1)
        self.assertEqual(sorted(os.listdir(hidden)), ["heap.json", "map.html"])


class Lease(Attached):
    def watched(self, command, *words):
        program = self.start("busy")
        tool = self.start_tarn(command, program.pid, "--for", self.DEADLINE, *words)
        self.wait_until(lambda: self.watches(program))
        return program, tool

    def test_a_profile_ends_with_a_killed_tool_and_is_told_until_then(self):
        program, tool = self.watched("profile", "--interval", 1)
        self.assertEqual([(watch["kind"], watch["interval_bytes"], watch["by"])
                          for watch in self.watches(program)], [("profile", 1, "a tool")])
        told = self.output("doctor", program.pid)
        self.assertIn("a profile is on, by a tool: a sample each 1 B", told)
        self.assertNotIn("no option is on that costs time", told)
        self.assertIn("a profile is on, by a tool", self.output("top", program.pid, "--once"))
        tool.kill()
        self.wait_until(lambda: not self.watches(program))
        self.assertIn("no option is on that costs time", self.output("doctor", program.pid))

    def test_a_recording_ends_with_a_killed_tool(self):
        program, tool = self.watched("record", "-o", self.scratch / "x.trace")
        self.assertEqual([(watch["kind"], watch["by"]) for watch in self.watches(program)],
                         [("recording", "a tool")])
        tool.kill()
        self.wait_until(lambda: not self.watches(program))

    def test_a_tool_that_was_stopped_for_long_says_that_its_profile_was_ended(self):
        program, tool = self.watched("profile", "--interval", "512K")
        os.kill(worker_of(tool), signal.SIGSTOP)
        self.wait_until(lambda: not self.watches(program))
        os.kill(worker_of(tool), signal.SIGCONT)
        self.assertIn("the profile was ended early", tool.communicate(timeout=self.DEADLINE)[1])

    def test_a_tool_that_runs_keeps_its_profile(self):
        program = self.start("busy")
        tool = self.start_tarn("profile", program.pid, "--for", 5)
        self.assertEqual(tool.communicate(timeout=self.DEADLINE)[1].count("ended early"), 0)
        self.assertEqual(self.watches(program), [])

    def test_what_the_program_has_switched_on_stays_on_and_is_told_as_its_own(self):
        program = self.start("busy", TARN_PROFILE="512K")
        by = "option profile, set by environment"
        self.assertEqual([watch["by"] for watch in self.watches(program)], [by])
        self.assertIn(f"a profile is on, by {by}: ", " ".join(self.output("doctor", program.pid).split()))


if __name__ == "__main__":
    unittest.main()
