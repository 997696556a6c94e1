"""The programs from outside: server and bots."""

import json
import re
import signal
import socket
import subprocess
import sys
import unittest

from client import DEADLINE, FOLDER, ServerTest

SERVER, BOTS = f"{FOLDER}/game_server", f"{FOLDER}/game_bots"


def run(*command, **how):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **how)


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
        form = re.compile(r"metric [a-z0-9_]+=[0-9.]+(us|MiB)?")
        self.assertEqual([line for line in lines if not form.fullmatch(line)], [])
        names = {line.split()[1].split("=")[0] for line in lines}
        self.assertLessEqual({"tick_p50", "tick_cpu_p50", "packets_per_cpu_second", "valley_rss",
                              "connects_per_second"}, names)
        self.assertEqual("tick_p99" in names, day["ticks"]["count"] >= 1000, day["ticks"])
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


if __name__ == "__main__":
    sys.exit(unittest.main())
