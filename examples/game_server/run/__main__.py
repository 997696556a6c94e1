"""Runs the game server on every kind of memory that is there, in turns, and says how they compare.

A round plays once with each contender, and each round starts with another one, so that what disturbs the
machine disturbs all alike. Uses loopback only.
"""

import argparse
import json
import os
import signal
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "bench"))

import allocators  # noqa: E402
import figures  # noqa: E402
import page  # noqa: E402
from match import IDLE, WARM_UP, Contender, Load, RunFailed, end_all, play  # noqa: E402

POOLS, DROP_IN = "tarn pools", "tarn drop-in"
OVERHEAD = WARM_UP + IDLE + 0.4  # seconds of a run that are not measured: starting, connecting, leaving
LEAST_MEASURED = 0.4
LONGEST = 1.15  # of the time that was asked for
EXAMPLES = """examples:
  scripts/run_game_server.sh                                 all contenders, three rounds, about 70 s
  scripts/run_game_server.sh --only glibc,'tarn pools' --rounds 8
  scripts/run_game_server.sh --seconds 600 --rounds 10 --json long.json

exit status: 0 all runs were fine, 1 some failed (which and how is said), 2 the command line is wrong, 130 interrupted
"""


def parse_command_line():
    parser = argparse.ArgumentParser(prog="run_game_server.sh", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", metavar="DIR", help="build folder (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds (%(default)s)")
    parser.add_argument("--seconds", type=float, default=70, metavar="S",
                        help="for all rounds together (%(default)s)")
    parser.add_argument("--bots", type=int, default=2000, metavar="N", help="bots (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the bots do (%(default)s)")
    parser.add_argument("--only", metavar="NAME,...", help="contenders; default: all that are there")
    parser.add_argument("--json", metavar="FILE", help="all samples (BUILD/game_server.json)")
    parser.add_argument("--page", metavar="FILE", help="the plots (BUILD/game_server.html)")
    arguments = parser.parse_args()
    for name, least in (("rounds", 1), ("bots", 1), ("seconds", 1)):
        if getattr(arguments, name) < least:
            parser.error(f"--{name} is at least {least}")
    return parser, arguments


def find_contenders(build):
    """All that can play, and notes on what is missing."""
    clean = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    peers, notes = allocators.find_peers(allocators.DEFAULT_PEERS)
    ours, more_notes = allocators.find_tarn(build)
    found = [Contender(DROP_IN if peer in ours else peer.name, "new", peer.environment(),
                       str(peer.preload or ""))
             for peer in [*peers, *ours]]
    found.append(Contender("std::pmr", "pmr", clean, ""))
    found.append(Contender(POOLS, "pools", clean, ""))
    return found, notes + more_notes


def chosen(parser, contenders, only):
    if not only:
        return contenders
    names = only.split(",")
    known = [c.name for c in contenders]
    for name in names:
        if name not in known:
            parser.error(f"--only {name}: there is {', '.join(known)}")
    return [c for c in contenders if c.name in names]


class Progress:
    """One line that is written over on a terminal; a line per run elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def say(self, text):
        left = (time.monotonic() - self.start) / self.done * (self.total - self.done) if self.done else None
        line = f"[{self.done + 1}/{self.total}] {text}" + (f", {left:.0f} s left" if left else "")
        print(f"\r\x1b[K{line}" if self.is_terminal else line, end="" if self.is_terminal else "\n",
              file=sys.stderr,
              flush=True)

    def clear(self):
        if self.is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Tournament:
    def __init__(self, contenders, arguments):
        self.contenders = contenders
        self.arguments = arguments
        self.folder = Path(arguments.build) / "examples" / "game_server"
        self.runs = {contender.name: [] for contender in contenders}
        self.failures = {}
        self.notes = []
        self.is_interrupted = False
        share = arguments.seconds / (len(contenders) * arguments.rounds)
        self.load = Load(arguments.bots, arguments.seed, max(share - OVERHEAD, LEAST_MEASURED))

    def play(self):
        start = time.monotonic()
        progress = Progress(len(self.contenders) * self.arguments.rounds)
        try:
            for number in range(self.arguments.rounds):
                # A machine so busy that a round takes twice its time gets fewer rounds, not a longer wait.
                expected = (time.monotonic() - start) / number if number else 0
                if time.monotonic() - start + expected > self.arguments.seconds * LONGEST:
                    self.notes.append(f"The machine was too busy for more than {number} rounds in the time.")
                    break
                self.play_round(number, progress)
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            end_all()
        progress.clear()

    def play_round(self, number, progress):
        first = number * 3 % len(self.contenders)
        for contender in self.contenders[first:] + self.contenders[:first]:
            progress.say(f"round {number + 1}: {contender.name}")
            try:
                self.runs[contender.name].append(play(self.folder, contender, self.load))
            except RunFailed as failure:
                self.failures[contender.name] = str(failure)
            progress.done += 1

    def summaries(self):
        return {name: figures.summary(runs) for name, runs in self.runs.items() if runs}

    def results(self):
        return {
            "machine": allocators.describe_machine(),
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "bots": self.load.bots,
            "seed": self.load.seed,
            "measured_seconds_per_run": self.load.seconds,
            "interrupted": self.is_interrupted,
            "failures": self.failures,
            "contenders": [{"name": c.name, "memory": c.memory, "library": c.library,
                            "runs": self.runs[c.name],
                            "summary": figures.summary(self.runs[c.name]) if self.runs[c.name] else None}
                           for c in self.contenders],
        }


def report(tournament, notes):
    summaries = tournament.summaries()
    if summaries:
        print("\n".join(figures.table(summaries)))
        rounds = max(len(runs) for runs in tournament.runs.values())
        ticks = min(summary["tick_count"] for summary in summaries.values())
        print(f"\n{rounds} rounds of {tournament.load.seconds:.1f} s, {tournament.load.bots} bots. "
              f"* best. Medians of rounds; ticks of all rounds together, {ticks} or more.")
        peers = [c.name for c in tournament.contenders if c.memory == "new"]
        for line in figures.verdict(summaries, POOLS, peers):
            print(line)
    for name, failure in tournament.failures.items():
        print(f"FAILED {name}: {failure}")
    for note in notes + tournament.notes:
        print(note)


def write(path, text):
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        sys.exit(f"run_game_server: cannot write {path}: {error.strerror}")


def main():
    parser, arguments = parse_command_line()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found, notes = find_contenders(arguments.build)
    tournament = Tournament(chosen(parser, found, arguments.only), arguments)
    if not (tournament.folder / "game_server").exists():
        sys.exit(f"run_game_server: no game_server in {tournament.folder}; build it first (make run does)")
    tournament.play()
    report(tournament, notes)
    if tournament.summaries():
        results = tournament.results()
        json_file = Path(arguments.json or Path(arguments.build) / "game_server.json")
        page_file = Path(arguments.page or Path(arguments.build) / "game_server.html")
        write(json_file, json.dumps(results))
        write(page_file, page.render(results))
        print(f"Plots: {page_file}. Every sample: {json_file}.")
    if tournament.is_interrupted:
        print("Interrupted.", file=sys.stderr)
        return 130
    return 1 if tournament.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
