"""The commands of the pages run, in a scratch folder where `tarn` is on the path.

What a command is: each line of a block of `sh`, and in a block without a language each line that begins with
`$ `. A command must end well, or stand in NOT_RUN with the reason. The reader's own programs are those that
page_program.cc stands for; the process 4711 is one of them. With TARN_LONG_TESTS=1 the library is built from
a copy of the sources, as README.md tells it.

usage: page_commands_test.py PROJECT BUILD PAGE_PROGRAM [WORDS OF UNITTEST]
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROJECT, BUILD, PROGRAM = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PAGES = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")]
PAGES += sorted(path for path in PROJECT.glob("docs/**/*.md") if "decisions" not in path.parts)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEADLINE = 500  # seconds; but for `make lib` the longest takes ten

# By the beginning of the command.
NOT_RUN = {
    r"make (?!lib)": "builds, or plays a day, for minutes; .ci/run and the workflow do",
    r"TARN_DAY_SECONDS=12 make": "plays five days",
    r"cmake |ctest ": "builds this tree within itself",
    r"tar |PKG_CONFIG_PATH=|/opt/|vcpkg |conan ": "needs packages, which `make packages` and `make deb` make",
    r"(build/)?tarn bench|bench/record_traces": "takes minutes; tests/bench runs it with small sources",
    r"(build/)?tarn compare --suite (programs|return_memory|examples/)": "takes minutes",
    r"(build/)?tarn compare --load '\./load|LD_PRELOAD=\$PWD/build/libtarn.so \./server 7799":
        "needs a server of the reader's with a load; compare_servers_test runs such",
    r"tarn compare --load 'redis": "needs redis",
    r"tarn compare --with jemalloc": "needs jemalloc",
    r"tarn watch --cgroup": "needs root and a unit of systemd; cgroup_test looks at one",
    r"tarn tune": "takes minutes; tests/tune runs it",
    r"TARN_LEAKS=exit TARN_LEAKS_SUPPRESSIONS":
        "needs a program that is linked with tarn; tests/leaks has such",
    r"addr2line": "needs a program with that bug",
    r"build/examples/game_server/game_(server --port|bots --port 7777)":
        "plays a day; tests/game_server does",
}
if os.environ.get("TARN_LONG_TESTS") != "1":
    NOT_RUN[r"make lib|LD_PRELOAD=\$PWD/build-lib"] = "takes a minute: long runs do it"
# What stands for the same thing here, and takes no time.
INSTEAD = [
    (r"/usr/lib/libtarn\.so", "build/libtarn.so"),
    (r"--for (?!0)\S+", "--for 1s"),
    (r"(?<=tarn profile )(\S+)(?!.*--for)", r"\1 --for 1s"),
    (r"--rounds \d+", "--rounds 2"),
    (r"--wait \d+", "--wait 1"),
    (r"--seconds \d+", "--seconds 2"),
    (r"7799 800 200", "7799 20 5"),
]
ENDLESS = re.compile(r"^tarn watch|--watch ")  # ended by Ctrl-C
SERVERS = re.compile(r"&$|^build/tarn run -- build/examples/game_server")  # run on while the page is read
STATUS = {
    r"tarn run --leaks(?!.*;)|TARN_LEAKS=exit": {23},  # the program loses blocks
    r"(build/)?tarn (leaks|doctor) ": {0, 1},          # 1: something is wrong with the looked-at
    r"tarn run --set hard_limit": {1},                 # Python's own, of its MemoryError
}
FILES = {
    "server.py": "print(sum(range(1000)))\n", "work.py": "print(len([str(i) for i in range(10000)]))\n",
    "words.txt": "b\na\n" * 1000, "tarn.conf": "decay:0\n", "known.txt": "leak:nothing\n",
    "work.sql": "create table a(b); insert into a values(1); select * from a;\n",
}


def commands_of(page):
    for language, text in BLOCK.findall(page.read_text("utf-8")):
        for line in text.replace("\\\n", "").splitlines() if language in ("", "sh") else []:
            if language == "sh" or line.startswith("$ "):
                yield re.sub(r"\s+# .*", "", line.removeprefix("$ "))


def reason_against(command):
    return next((reason for start, reason in NOT_RUN.items() if re.match(start, command)), None)


class Commands(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.scratch, self.processes = pathlib.Path(scratch.name).resolve(), []
        for name in ("examples", "bench", "docs"):
            (self.scratch / name).symlink_to(PROJECT / name)
        (self.scratch / "build").symlink_to(BUILD)
        for name in ("server", "your_server", "test", "game_server"):
            shutil.copy(PROGRAM, self.scratch / name)
        for name, text in FILES.items():
            (self.scratch / name).write_text(text, "utf-8")
        subprocess.run("git init -q && git -c user.name=a -c user.email=a commit -qm a --allow-empty",
                       shell=True, cwd=self.scratch, check=True)
        self.environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def bring_sources(self):
        for name in ("examples", "bench", "docs"):
            (self.scratch / name).unlink()
        shutil.copytree(PROJECT, self.scratch, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("build", "build-*", ".git"))

    def start(self, command):
        output = open(self.scratch / "said", "w+")
        self.addCleanup(output.close)
        process = subprocess.Popen(["bash", "-c", command], cwd=self.scratch, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True)
        self.processes.append(process)
        return process, output

    def start_own(self, commands):
        """The reader's programs that the commands look at. \returns the process that they call 4711."""
        text = "\n".join(commands)
        started = [name for name in ("game_server", "server", "your_server")
                   if re.search(rf"^(build/)?tarn [a-z]+ ({name}|4711)\b", text, re.MULTILINE)
                   and not re.search(rf"tarn run -- (\./|build/\S+/){name}\b.*(&$|--port)", text,
                                     re.MULTILINE)]
        first = None
        for name in started:
            process, _ = self.start(f"exec tarn run -- ./{name} --forever")
            first = first or process.pid
        if "server_step_6" in text:
            self.start("exec build/examples/server/server_step_6 0")
        if "python3.11" in text:
            process, _ = self.start("exec tarn run -- python3.11 -c 'import time; time.sleep(100)'")
            first = first or process.pid
        time.sleep(0.5)  # the library has set itself up
        return first

    def by_id(self, looked_at):
        """Of the processes that this test has started: others on this machine may have the name too."""
        sessions = {str(process.pid) for process in self.processes}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, rest = stat.read_text().split(" (", 1)[1].rsplit(") ", 1)
                if name == looked_at[2] and rest.split()[3] in sessions:
                    return looked_at[1] + stat.parent.name
        return looked_at[0]

    def run_one(self, command, own):
        for wanted, instead in [*INSTEAD, (r"\b(4711|31074)\b", str(own))]:
            command = re.sub(wanted, instead, command)
        command = re.sub(r"(tarn [a-z]+ )([a-z]\w+)\b", self.by_id, command)
        process, output = self.start(command)
        if SERVERS.search(command):
            time.sleep(1)
            return
        if ENDLESS.search(command):
            time.sleep(3)
            os.killpg(process.pid, signal.SIGINT)
        status = process.wait(timeout=DEADLINE)
        wanted = {0, 130, -signal.SIGINT} if ENDLESS.search(command) else next(
            (statuses for start, statuses in STATUS.items() if re.match(start, command)), {0})
        output.seek(0)
        self.assertIn(status, wanted, f"{command}\n{output.read()}")

    def test_each_reason_not_to_run_is_one_for_some_command(self):
        commands = [command for page in PAGES for command in commands_of(page)]
        self.assertGreater(len(commands), 80)
        for start in NOT_RUN:
            self.assertTrue(any(re.match(start, command) for command in commands), start)

    def test_blocks_of_commands_are_marked(self):
        for page in PAGES:
            for language, text in BLOCK.findall(page.read_text("utf-8")):
                if language == "" and not text.startswith("$ "):
                    self.assertNotRegex(text, r"^(build/)?(tarn [a-z]+ |make |cmake )", page)


def test_of(page):
    def test(self):
        commands = [command for command in commands_of(page) if not reason_against(command)]
        if any(command.startswith("make") for command in commands):
            self.bring_sources()
        own = self.start_own(commands)
        for command in commands:
            with self.subTest(command=command):
                self.run_one(command, own)
    return test


for one in PAGES:
    if any(not reason_against(command) for command in commands_of(one)):
        name = re.sub(r"[^a-z]", "_", str(one.relative_to(PROJECT)).lower())
        setattr(Commands, f"test_of_{name}", test_of(one))

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
