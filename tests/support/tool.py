"""The command `tarn`, and programs on its library, from outside: what their tests share.

TARN_TEST_TOOL of the environment names the command. tarn_add_tool_test() of CMake sets it, and lets a test
import this file.
"""

import contextlib
import json
import os
import pathlib
import pty
import subprocess
import tempfile
import time
import unittest

TOOL = os.environ.get("TARN_TEST_TOOL")


def children_of(process):
    """Their ids."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in children.read_text().split()]


def read_from(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


class ToolTest(unittest.TestCase):
    """Each test has a folder and an environment of its own; what it starts ends with it.

    The words of a command may be numbers and paths. Keywords in capitals are variables of its environment,
    all others go to subprocess.
    """

    DEADLINE = 100  # seconds; no test comes near it unless something hangs

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name).resolve()
        self.json = self.scratch / "result.json"
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("LD_PRELOAD", "NO_COLOR")}

    def options_of(self, keywords):
        variables = {name: str(value) for name, value in keywords.items() if name.isupper()}
        others = {name: value for name, value in keywords.items() if not name.isupper()}
        return {"env": {**self.environment, **variables}, "text": True, **others}

    def run_program(self, *command, check=False, **keywords):
        options = {"capture_output": True, "timeout": self.DEADLINE, **self.options_of(keywords)}
        return subprocess.run([*map(str, command)], check=check, **options)

    def tarn(self, *words, **keywords):
        return self.run_program(TOOL, *words, **keywords)

    def json_of(self, *words, **keywords):
        """What the command prints with --json."""
        return json.loads(self.tarn(*words, "--json", **keywords).stdout)

    def result_and_json(self, command, *words, **keywords):
        """The process, and what it has written into self.json."""
        self.json.unlink(missing_ok=True)
        result = self.tarn(command, "-o", self.json, *words, **keywords)
        self.assertTrue(self.json.exists(), result.stdout + result.stderr)
        return result, json.loads(self.json.read_text())

    def start_program(self, *command, says=None, **keywords):
        """A program that runs on, its input and output in pipes. The line that it `says` first is awaited."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **self.options_of(keywords)}
        process = subprocess.Popen([*map(str, command)], **options)
        self.addCleanup(self.end, process)
        if says is not None:
            self.assertEqual(process.stdout.readline(), says)
        return process

    def start_tarn(self, *words, **keywords):
        return self.start_program(TOOL, *words, stderr=subprocess.PIPE, **keywords)

    @staticmethod
    def end(process):
        with process:  # waits for it, and closes its pipes
            process.kill()

    def on_a_terminal(self, *words, **keywords):
        """What the command writes to a pseudo-terminal as its standard output and error, and its status."""
        master, slave = pty.openpty()
        process = self.start_program(TOOL, *words, stdout=slave, stderr=slave, **keywords)
        os.close(slave)
        text = b""
        while chunk := read_from(master):
            text += chunk
        os.close(master)
        return text.decode(), process.wait(timeout=self.DEADLINE)

    def make_cgroup(self, *pids, memory=None, most="max"):
        """A folder with files as a cgroup has them."""
        group = self.scratch / "test.slice"
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
        (group / "memory.max").write_text(f"{most}\n")
        if memory is not None:
            (group / "memory.current").write_text(f"{memory}\n")
        return group

    def make_real_cgroup(self, pid):
        """One of the kernel's, which has the process."""
        for root in map(pathlib.Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")):
            group = root / f"tarn_test_{os.getpid()}"
            if not (root / "cgroup.procs").exists():
                continue
            try:
                group.mkdir()
                self.addCleanup(group.rmdir)
                (group / "cgroup.procs").write_text(str(pid))
                self.addCleanup(self.leave_cgroup, root, pid)
                return group
            except OSError:
                break
        self.skipTest("no cgroup may be made here")

    @staticmethod
    def leave_cgroup(root, pid):
        with contextlib.suppress(OSError):
            (root / "cgroup.procs").write_text(str(pid))

    def wait_until(self, is_so, what="", seconds=None):
        """\\returns what `is_so` has returned that counts as true."""
        end = time.monotonic() + (seconds or self.DEADLINE)
        while not (found := is_so()):
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.002)
        return found

    def wait_until_it_sleeps(self, pid):
        """Behind its last line the program still allocates what it reads its input with."""
        state = pathlib.Path(f"/proc/{pid}/stat")
        self.wait_until(lambda: state.read_text().rsplit(")", 1)[1].split()[0] == "S")

    def assert_is_gone(self, pid):
        self.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), f"process {pid} is still there", 5)

    def assert_one_line(self, result, status, text):
        """The command ended with the status and said one line, which has the text."""
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertRegex(result.stderr, r"\Atarn: [^\n]*\n\Z")
        self.assertIn(text, result.stderr)
