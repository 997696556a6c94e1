"""Child processes of a measurement: each in a session of its own, so that an interrupt ends it and all it
started."""

import contextlib
import os
import signal
import subprocess
import sys
import time


class ProcessFailed(Exception):
    """What to tell about a process that did not do its work."""


def run_process(command, environment, timeout_seconds, **options):
    """Standard output of a process; on a time-out or an interrupt it and its children are ended."""
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        **options
    )
    try:
        output, errors = child.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        raise ProcessFailed(f"no end after {timeout_seconds} s") from None
    finally:
        _end_session(child)
    if child.returncode != 0:
        message = errors.decode(errors="replace").strip()[-300:]
        raise ProcessFailed(f"{_status_text(child.returncode)}{': ' + message if message else ''}")
    return output


def _end_session(child):
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _status_text(status):
    return f"exit status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"


class Progress:
    """One line on a terminal that says where the run is and how long it still takes; on a pipe a line per
    heading."""

    def __init__(self, jobs):
        self.remaining = list(jobs)
        self.total = len(self.remaining)
        self.seconds = {}
        self.heading = None
        self.is_terminal = sys.stderr.isatty()

    def start(self, job, heading):
        self.begin = time.monotonic()
        done = self.total - len(self.remaining)
        line = f"[{done}/{self.total}] {job[0]} · {job[1]} · {self._time_left()} left"
        if self.is_terminal:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif heading != self.heading:
            print(line, file=sys.stderr, flush=True)
        self.heading = heading

    def finish(self, job):
        self.seconds[job] = time.monotonic() - self.begin
        self.remaining.remove(job)

    def close(self):
        if self.is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _time_left(self):
        """Jobs of a kind take as long as the last of that kind; unknown kinds as long as the average."""
        if not self.seconds:
            return "unknown time"
        average = sum(self.seconds.values()) / len(self.seconds)
        seconds = sum(self.seconds.get(job, average) for job in self.remaining)
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
