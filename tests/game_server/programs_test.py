"""The three programs from outside: server, bots, and the runner of `make run`."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from client import DEADLINE, FOLDER, ServerTest

SUITE = Path(__file__).resolve().parents[2] / "examples" / "game_server" / "suite.json"
BUILD = os.environ["TARN_TEST_BUILD"]
SERVER, BOTS = f"{FOLDER}/game_server", f"{FOLDER}/game_bots"


def run(*command, **how):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **how)


def processes_with(variable):
    """Ids of the processes whose environment has a variable; tests that run beside this one have others."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


class CommandLines(unittest.TestCase):
    def test_help_has_examples(self):
        for command in ([SERVER], [BOTS]):
            done = run(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("xamples:", done.stdout)

    def test_errors_are_one_line(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            cases = [
                (2, [SERVER, "--memory", "stack"], "--memory"),
                (2, [SERVER, "--ticks", "0"], "--ticks"),
                (2, [SERVER, "--port", "70000"], "--port"),
                (2, [SERVER, "--frobnicate"], "frobnicate"),
                (2, [SERVER, "serve"], "serve"),
                (1, [SERVER, "--port", port], f"cannot listen on 127.0.0.1:{port}: Address already in use"),
                (1, [SERVER, "--address", "1.2.3"], "'1.2.3' is no IP address"),
                (2, [BOTS], "--port is required"),
                (2, [BOTS, "--port", "0"], "--port"),
                (1, [BOTS, "--port", "1"], "nobody answers on 127.0.0.1:1"),
                (1, [BOTS, "--port", "1", "--address", "localhost"], "'localhost' is no IPv4 address"),
                (1, [BOTS, "--port", "1", "--bots", "1000000"], "ulimit -n"),
                (1, [BOTS, "--port", "1", "--commands"], "--commands needs a pipe or a terminal"),
            ]
            for status, command, text in cases:
                with self.subTest(command=command[1:]):
                    done = run(*command, stdin=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, status)
                    self.assertIn(text, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Bots(ServerTest):
    def test_bots_get_all_answers_and_leave_nothing(self):
        for memory in ("new", "pmr", "pools"):
            self.memory = memory
            server = self.server()
            done = run(BOTS, "--port", str(server.port), "--bots", "300", "--seconds", "0.5", "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            ready, tally = map(json.loads, done.stdout.splitlines())
            self.assertEqual(ready, {"event": "ready", "bots": 300})
            self.assertEqual(tally["answers"] > 1000, True)
            self.assertEqual((tally["lost"], tally["left_behind"], sum(tally["refused"].values())), (0, 0, 0))
            self.require_nothing_left(server)
            status, last, errors = server.stop()
            self.assertEqual((status, errors), (0, ""))
            self.assertGreaterEqual(last["packets_received"], tally["answers"])

    def test_a_day_has_a_time_line_and_every_figure_as_a_line(self):
        server = self.server("--match-ticks", "200")
        done = run(BOTS, "--port", str(server.port), "--day", "--day-seconds", "4", "--bots", "200")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, *lines = done.stdout.splitlines()
        day = json.loads(first)
        self.assertGreater(day["packets"], 1000)
        self.assertGreater(day["storm"]["connects"], 100)
        self.assertEqual(sum(day["errors"]["refused"].values()) + day["errors"]["lost"], 0)
        players = [hour["players"] for hour in day["time_line"]]
        noon = players.index(max(players))
        self.assertGreater(max(players), 150)
        self.assertLess(min(players[noon:]), 50)
        self.assertEqual([line for line in lines if not re.fullmatch(r"metric [a-z0-9_]+=[0-9.]+", line)], [])
        names = {line.split()[1].split("=")[0] for line in lines}
        self.assertLessEqual({"tick_p50_us", "tick_cpu_p50_us", "packets_per_cpu_second", "valley_rss_mib",
                              "connects_per_second"}, names)
        self.require_nothing_left(server)

    def test_bots_that_are_turned_away_say_so(self):
        server = self.server("--sessions", "10")
        done = run(BOTS, "--port", str(server.port), "--bots", "50", "--seconds", "0.2", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the server ended", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_signal_ends_bots_politely(self):
        server = self.server()
        bots = subprocess.Popen([BOTS, "--port", str(server.port), "--bots", "100", "--json"],
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.addCleanup(bots.kill)
        bots.stdout.readline()
        bots.send_signal(signal.SIGINT)
        out, errors = bots.communicate(timeout=DEADLINE)
        self.assertEqual((bots.returncode, errors), (0, ""))
        self.assertEqual(json.loads(out)["left_behind"], 0)
        self.require_nothing_left(server)


class Day(unittest.TestCase):
    """The day that `make run` plays, shortened."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.json, self.page = (Path(scratch.name) / name for name in ("r.json", "r.html"))
        self.command = [str(Path(BUILD) / "tarn"), "compare", "--suite", str(SUITE), "--rounds", "1",
                        "--warmup", "0", "--with", "none", "--json", str(self.json), "--html", str(self.page)]

    def environment(self, **more):
        return {**os.environ, "TARN_DAY_SECONDS": "5.5", "TARN_DAY_BOTS": "200", **more}

    def test_a_short_day_has_a_table_a_page_and_every_figure(self):
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=DEADLINE, check=False,
                              env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("tick p50", "packets/CPU s", "RSS at night", "std::pmr",
                     "tarn pools beside the best other"):
            self.assertIn(text, done.stdout)
        contenders = json.loads(self.json.read_text())["programs"][0]["allocators"]
        self.assertEqual([one["name"] for one in contenders], ["glibc", "tarn", "std::pmr", "tarn pools"])
        for one in contenders:
            self.assertGreater(one["runs"][0]["printed"]["tick p50"], 0)
            self.assertGreater(len(one["runs"][0]["memory"]), 3)
        self.assertIn("Resident memory since the load began", self.page.read_text())

    def test_interrupted_it_leaves_no_process(self):
        mark = f"TARN_TEST_RUN={self.json}"
        runner = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True,
                                  env=self.environment(TARN_DAY_SECONDS="60", TARN_TEST_RUN=str(self.json)))
        self.addCleanup(runner.kill)
        deadline = time.monotonic() + DEADLINE
        while len(processes_with(mark)) < 4:  # the tool, the server, a shell, the bots
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        runner.send_signal(signal.SIGINT)
        out, errors = runner.communicate(timeout=DEADLINE)
        self.assertEqual(runner.returncode, 130, out + errors)
        self.assertEqual(processes_with(mark), set())


if __name__ == "__main__":
    sys.exit(unittest.main())
