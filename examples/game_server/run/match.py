"""One run: a server on one kind of memory, bots that play on it for some seconds, and what the server
counted.

Both programs are told what to do through their standard input, whose end stops them: whatever becomes of the
runner, they do not outlive it. They are in a session of their own, so that Ctrl-C is the runner's to pass on.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass

PATIENCE = 15  # seconds for any single answer; a machine that is busy beyond that measures nothing
WARM_UP = 0.3  # seconds between the moment that all bots play and the first figures
IDLE = 0.5  # seconds between the last goodbye and the figures of the idle server


class RunFailed(Exception):
    """A run that cannot be counted, in one line."""


@dataclass(frozen=True)
class Contender:
    name: str
    memory: str  # the server's --memory
    environment: dict
    library: str  # what is preloaded; empty: nothing


@dataclass(frozen=True)
class Load:
    bots: int
    seed: int
    seconds: float


STOPPING = {signal.SIGINT, signal.SIGTERM}
started = []  # programs that may still run


@contextlib.contextmanager
def signals_held():
    """Signals that interrupt this program come at the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_all():
    """Ends every program that was started, also one whose start was interrupted."""
    with signals_held():
        while started:
            started[-1].end()


class Program:
    """A child that prints one JSON object per line."""

    def __init__(self, name, command, environment):
        self.name = name
        self.pending = b""
        with signals_held():
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment, start_new_session=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING))
            started.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def say(self, command):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise RunFailed(self.last_words()) from None

    def hear(self):
        """The next object it prints."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise RunFailed(f"{self.name} said nothing for {PATIENCE} s")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise RunFailed(self.last_words())
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, command):
        self.say(command)
        return self.hear()

    def last_words(self):
        self.process.wait(PATIENCE)
        lines = self.process.stderr.read().decode(errors="replace").strip().splitlines()
        return f"{self.name} ended with status {self.process.returncode}" + (f": {lines[-1]}" if lines
                                                                             else "")

    def expect_success(self):
        if self.process.wait(PATIENCE) != 0:
            raise RunFailed(self.last_words())

    def end(self):
        """Leaves nothing behind, however the run ended."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        if self in started:
            started.remove(self)


def require_preloaded(contender, pid):
    """\\why the loader only warns when it cannot preload, and the figures would be glibc's."""
    if contender.library:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            if os.path.realpath(contender.library) not in maps.read():
                raise RunFailed(f"{contender.library} was not preloaded")


def difference(begin, end):
    """What happened between two looks at the server."""
    seconds = end["clock"] - begin["clock"]
    packets = end["packets_received"] - begin["packets_received"]
    ticks = end["ticks"] - begin["ticks"]
    if packets <= 0 or ticks <= 0:
        raise RunFailed("the server handled no packets or no ticks in the measured time")
    user, system = (end["process"][key] - begin["process"][key] for key in ("user_seconds", "system_seconds"))
    return {
        "seconds": seconds,
        "packets": packets,
        "packets_sent": end["packets_sent"] - begin["packets_sent"],
        "packets_per_second": packets / seconds,
        "cpu_percent": (user + system) / seconds * 100,
        "cpu_user_seconds": user,
        "cpu_system_seconds": system,
        "cpu_microseconds_per_packet": (user + system) / packets * 1e6,
        "allocations_per_tick": (end["allocations"] - begin["allocations"]) / ticks,
        "ticks": ticks,
        "ticks_skipped": end["ticks_skipped"] - begin["ticks_skipped"],
        "page_faults": end["process"]["page_faults"] - begin["process"]["page_faults"],
        "preemptions": end["process"]["preemptions"] - begin["process"]["preemptions"],
        "tick_wall_nanoseconds": end["tick_wall_nanoseconds"],
        "tick_cpu_nanoseconds": end["tick_cpu_nanoseconds"],
    }


def look(server):
    return {**server.ask("stats"), "clock": time.monotonic()}


def require_nothing_lost(bots, idle):
    refused = {reason: count for reason, count in bots["refused"].items() if count}
    if refused or bots["lost"] or bots["connects_failed"]:
        raise RunFailed(f"{bots['lost']} connections lost, {bots['connects_failed']} refused, errors: "
                        f"{refused}")
    left = {kind: count for kind, count in idle["live"].items() if count and kind != "entities"}
    if left:
        raise RunFailed(f"the idle server still holds {left}")


def play(folder, contender, load):
    """\\returns the figures of one run. \\throws RunFailed"""
    server_command = [f"{folder}/game_server", "--memory", contender.memory, "--commands", "--json"]
    with Program("the server", server_command, contender.environment) as server:
        port = server.hear()["port"]
        require_preloaded(contender, server.process.pid)
        bots_command = [f"{folder}/game_bots", "--port", str(port), "--bots", str(load.bots), "--seed",
                        str(load.seed), "--commands", "--json"]
        with Program("the bots", bots_command,
                     {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}) as bots:
            bots.hear()  # all play
            time.sleep(WARM_UP)
            begin = look(server)
            time.sleep(load.seconds)
            end = look(server)
            tally = bots.ask("stop")
            bots.expect_success()
        time.sleep(IDLE)
        idle = look(server)
        server.say("stop")
        server.hear()
        server.expect_success()
    require_nothing_lost(tally, idle)
    return {
        **difference(begin, end),
        "peak_rss_bytes": idle["process"]["peak_rss_bytes"],
        "idle_rss_bytes": idle["process"]["rss_bytes"],
        "sessions": end["live"]["sessions"],
        "connects": tally["connects"],
        "round_trip_p50_us": tally["round_trip_p50_us"],
        "round_trip_p99_us": tally["round_trip_p99_us"],
    }
