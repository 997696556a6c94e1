"""`tarn top` on a real terminal: tmux shows what a reader would see, and types the keys."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from looked_at import DEADLINE, LookedAt
from tool import TOOL, ToolTest

PROGRAM = os.environ["TARN_TEST_PROGRAM"]


class Terminal:
    """A tmux of its own, with one window in which a shell runs."""

    def __init__(self, width, height):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "tmux")
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "PS1": "$ ", "ENV": "", "TERM": "xterm"}
        environment.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "sh",
                  env=environment)
        self.tmux("set-option", "-g", "window-size", "manual")

    def close(self):
        self.tmux("kill-server")
        self.folder.cleanup()

    def tmux(self, *words, env=None):
        result = subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True,
                                timeout=DEADLINE, check=False, env=env)
        if result.returncode != 0:
            raise RuntimeError(f"tmux {words}: {result.stderr}")
        return result.stdout

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, is_there, what):
        deadline = time.monotonic() + DEADLINE
        while True:
            text = self.text()
            if is_there(text):
                return text
            if time.monotonic() > deadline:
                raise AssertionError(f"never shown: {what}\n{text}")
            time.sleep(0.02)

    def wait_for_text(self, *words):
        return self.wait_for(lambda text: all(word in text for word in words), words)

    def wait_for_shell(self):
        """Until the shell answers again. What is typed before that is lost with the ending screen."""
        self.wait_for(lambda _: self.tmux("display-message", "-p", "#{pane_current_command}") == "sh\n",
                      "the shell")
        self.type("echo status $?", "Enter")
        return self.wait_for_text("status 0\n")


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class TopScreenTest(unittest.TestCase):

    def setUp(self):
        self.program = LookedAt([PROGRAM])
        self.addCleanup(self.program.end)

    def open(self, width=80, height=24, options="--interval 0.1"):
        terminal = Terminal(width, height)
        self.addCleanup(terminal.close)
        terminal.type(f"exec 2>&1; clear; {TOOL} top {self.program.pid} {options}", "Enter")
        terminal.wait_for_text("RSS ", "q quit")
        return terminal

    def test_the_screen_has_its_parts_at_eighty_columns(self):
        text = self.open().wait_for_text("looked_at", "exact", "pool / heap", "thread", "packets", "zone")
        self.assertIn("of free blocks pinned by", text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()))

    def test_at_140_columns_pools_stand_beside_classes(self):
        text = self.open(140, 30).text()
        heading = next(line for line in text.splitlines() if "survivors" in line)
        self.assertIn("pool / heap", heading)

    def test_a_resize_draws_for_the_new_size(self):
        terminal = self.open()
        terminal.resize(140, 30)
        terminal.wait_for(lambda text: any("survivors" in line and "pool / heap" in line
                                           for line in text.splitlines()), "two columns")
        terminal.resize(80, 20)
        terminal.wait_for(lambda text: text.rstrip("\n").splitlines()[-1].startswith("1 overview")
                          and len(text.rstrip("\n").splitlines()) == 20, "twenty lines")

    def test_keys_choose_views_and_orders(self):
        terminal = self.open()
        terminal.type("4")
        terminal.wait_for_text("fixed pool", "heap")
        terminal.type("3")
        terminal.wait_for_text("owner", "depot")
        terminal.type("Tab", "Tab", "Tab")
        terminal.wait_for_text("slabs")
        terminal.type("s")
        terminal.wait_for_text("s by live")
        terminal.type("p")
        terminal.wait_for_text("paused")
        terminal.type("?")
        terminal.wait_for_text("tarn doctor")
        terminal.type("x")
        terminal.wait_for(lambda text: "tarn doctor" not in text, "no help")

    def test_what_changes_is_seen(self):
        terminal = self.open()
        before = terminal.text()
        self.program.write(b"grow\n")
        self.program.wait_for(b"done")
        terminal.wait_for_text("203 k")  # live blocks of 48 bytes
        self.assertNotIn("203 k", before)

    def test_a_paused_screen_stays_until_space(self):
        terminal = self.open()
        terminal.type("p")
        terminal.wait_for_text("paused")
        self.program.write(b"grow\n")
        self.program.wait_for(b"done")
        self.assertNotIn("203 k", terminal.text())
        terminal.type("Space")
        terminal.wait_for_text("203 k")

    def test_q_gives_the_terminal_back(self):
        terminal = self.open()
        terminal.type("q")
        self.assertNotIn("RSS ", terminal.wait_for_shell())

    def test_ctrl_c_gives_the_terminal_back(self):
        terminal = self.open()
        terminal.type("C-c")
        self.assertNotIn("RSS ", terminal.wait_for_shell())

    def test_the_last_state_stays_when_the_program_ends(self):
        terminal = self.open(80, 50)
        self.program.process.kill()
        self.program.process.wait()
        terminal.wait_for_text("looked_at", f"{self.program.pid} has ended; this was seen last.")
        terminal.wait_for_shell()

    def test_another_command_has_the_terminal_until_a_key(self):
        terminal = self.open()
        terminal.type("d")
        terminal.wait_for_text("[any key: back]")
        terminal.type("x")
        terminal.wait_for_text("RSS ", "q quit")


class TopOnceTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["COLUMNS"] = "100"
        self.program = LookedAt([PROGRAM])
        self.addCleanup(self.program.end)

    def test_a_pipe_gets_the_lines_once(self):
        result = self.tarn("top", "looked_at")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("RSS ", result.stdout)
        self.assertNotIn("\033", result.stdout)
        self.assertNotIn("q quit", result.stdout)

    def test_json_tells_pools_and_rates_of_an_interval(self):
        look = self.json_of("top", self.program.pid, "--interval", 0.1)
        self.assertEqual((look["schema"], look["version"]), ("tarn top", 1))
        self.assertGreaterEqual(look["rate_seconds"], 0.1)
        packets = next(pool for pool in look["pools"] if pool["name"] == "packets")
        self.assertEqual((packets["live"], packets["limit_blocks"]), (950, 1000))
        self.assertEqual(packets["live_per_second"], 0)
        self.assertGreaterEqual(look["sheet"]["survivors"]["blocks"], 1000)

    def test_metrics_have_the_parts_and_the_pools(self):
        text = self.tarn("metrics", self.program.pid).stdout
        self.assertIn('tarn_pool_live_blocks{kind="fixed pool",name="packets",block_bytes="512"} 950\n', text)
        self.assertIn('tarn_resident_part_bytes{part="free_in_slabs"}', text)
        self.assertIn("# TYPE tarn_refills_total counter\n", text)

    def start_as(self, program, name, says=b"ready"):
        """The program under a name that only this test knows, as others run beside it."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        started = LookedAt([shutil.copy(program, os.path.join(folder, name))], says=says)
        self.addCleanup(started.end)
        return started.pid

    def test_ps_sums_all_processes_of_a_name(self):
        name = f"workers_{os.getpid()}"
        pids = [self.start_as(PROGRAM, name), self.start_as(PROGRAM, name)]
        found = self.json_of("ps", name)
        self.assertEqual([one["pid"] for one in found["processes"]], sorted(pids))
        for part in ("live", "metadata"):
            self.assertEqual(found["sum"]["parts"][part],
                             sum(one["parts"][part] for one in found["processes"]))
        self.assertIn("all 2", self.tarn("ps", name).stdout)
        most = max(found["processes"], key=lambda one: one["rss_bytes"])
        top = self.tarn("ps", name, "--top", 1).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in top[1:]], [str(most["pid"]), "all"])
        self.assertIn(f"2 processes named '{name}' run on tarn", self.tarn("top", name).stderr)

    def test_ps_of_a_name_that_nothing_on_tarn_has_says_so(self):
        result = self.tarn("ps", "no_such_program")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("No process named 'no_such_program'", result.stderr)

    def test_a_process_of_the_name_that_is_not_on_tarn_is_no_candidate(self):
        name = f"server_{os.getpid()}"
        on_tarn = self.start_as(PROGRAM, name)
        self.start_as(shutil.which("cat"), name, says=None)
        self.assertEqual(self.json_of("top", name)["pid"], on_tarn)

    def test_output_that_cannot_be_written_is_an_error(self):
        for words in (["top", str(self.program.pid), "--once"], ["metrics", str(self.program.pid)]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=DEADLINE, check=False)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn("No space left", result.stderr)

    def test_a_process_that_is_not_there_is_named(self):
        result = self.tarn("top", "no_such_program")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no process is named 'no_such_program'", result.stderr)


if __name__ == "__main__":
    unittest.main()
