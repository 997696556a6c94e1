"""The line of `tarn top` adds up: on real programs its parts are RSS, as the kernel counts it, within 1 %.

Each program does some work, waits for input, and is stopped while it is looked at. What is not installed is
left out; twelve programs must be there.
"""

import json
import os
import shutil
import subprocess
import unittest

from looked_at import LookedAt
from tool import ToolTest

TARN = os.environ["TARN_TEST_TARN"]
LEAST_PROGRAMS = 12
LARGEST_ERROR = 0.01

TEXT = b"".join(b"line %d of a text with some words in it\n" % i for i in range(20000))
PYTHON = "data = [{'id': i, 'name': str(i) * 3} for i in range(60000)]; del data[::2]\n"
WAIT = "print('ready', flush=True); input()\n"
PYTHON_THREADS = f"""
import threading
barrier, kept = threading.Barrier(5), []
def work(number):
    mine = [bytes(i % 3000) for i in range(5000)]
    kept.append(mine[::7])
    barrier.wait()
    threading.Event().wait()
for number in range(4):
    threading.Thread(target=work, args=(number,), daemon=True).start()
barrier.wait()
{WAIT}"""
PERL = """my %h; $h{"k$_"} = [1..$_ % 20] for 1..50000; delete $h{"k$_"} for 1..20000;
$| = 1; print "ready\\n"; <STDIN>;"""
SQL = b"""CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t(b);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
INSERT INTO t SELECT i, 'row ' || (i * 7919 % 65537) FROM n;
.print ready
"""
PHP = '$a = []; for ($i = 0; $i < 100000; ++$i) $a["k$i"] = [$i, "v$i"]; echo "ready\n"; fgets(STDIN);'
BASH = "for i in {1..20000}; do a[i]=value$i; done; echo ready; read x"
AWK = 'BEGIN { for (i = 0; i < 100000; i++) a[i] = "v" i; print "ready"; fflush(); getline line < "-" }'
CMAKE = """
foreach(i RANGE 20000)
  list(APPEND items item_${i})
endforeach()
message("ready")
execute_process(COMMAND cat)
"""
MAKE = "VALUES := $(shell seq 20000)\nall:\n\t@echo ready; read x\n"
NODE = """let a = []; for (let i = 0; i < 1e5; i++) a.push({i, s: 'v' + i});
console.log('ready'); process.stdin.resume()"""
JQ_FILTER = '[range(20000) | {id: ., name: "n\\(.)"}] as $all | ($all | length), "ready"'
RUBY = "h = {}; 50000.times { |i| h[i] = i.to_s * 3 }; puts 'ready'; $stdout.flush; gets"
LUA = "t = {} for i = 1, 50000 do t[i] = {tostring(i)} end print('ready') io.flush() io.read()"


def programs(folder):
    """{name: (command, arguments of LookedAt)}. The names begin with those of executables."""
    (folder / "script.cmake").write_text(CMAKE)
    (folder / "Makefile").write_text(MAKE)
    (folder / "text").write_bytes(TEXT + b"ready\n")
    subprocess.run(["git", "init", "-q", folder / "repository"], check=True)
    lines = {"feed": TEXT + b"ready\n"}
    all_read = {"says": b"", "feed": TEXT}
    return {
        "python3": (["/usr/bin/python3", "-c", PYTHON + WAIT], {}),
        "python3 with threads": (["/usr/bin/python3", "-c", PYTHON_THREADS], {}),
        "python3 with matplotlib": (["/usr/bin/python3", "-c", "import matplotlib.pyplot\n" + WAIT], {}),
        "perl": (["perl", "-e", PERL], {}),
        "sqlite3": (["sqlite3"], {"feed": SQL}),
        "php": (["php", "-r", PHP], {}),
        "bash": (["bash", "-c", BASH], {}),
        "dash": (["dash", "-c", "x=$(seq 30000); echo ready; read y"], {}),
        "mawk": (["mawk", AWK], {}),
        "gdb": (["gdb", "-q", "-nx", "-ex", "python print('ready', flush=True)",
                 "-ex", "python input()"], {}),
        "cmake": (["cmake", "-P", folder / "script.cmake"], {}),
        "make": (["make", "-C", folder], {}),
        "git": (["git", "cat-file", "--batch-check"], {"feed": b"ready\n", "cwd": folder / "repository"}),
        "node": (["node", "-e", NODE], {}),
        "jq": (["jq", "--unbuffered", JQ_FILTER], {"feed": b"1\n"}),
        "ruby": (["ruby", "-e", RUBY], {}),
        "lua5.4": (["lua5.4", "-e", LUA], {}),
        "sed": (["sed", "-u", "s/a/b/"], {"feed": b"reaay\n", "says": b"rebay"}),
        "grep": (["grep", "--line-buffered", "ready"], lines),
        "tail": (["tail", "-n", "15000", "-f", folder / "text"], {}),
        "xargs": (["xargs", "-n", "1", "echo"], {"feed": b"ready\n"}),
        "sort": (["sort"], all_read),
        "clang": (["clang", "-cc1", "-emit-llvm", "-o", "/dev/null", "-"],
                  {"says": b"", "feed": b"int f(int x) { return x; }\n"}),
        "as": (["as", "-o", "/dev/null"], {"says": b"", "feed": b" nop\n" * 20000}),
        "c++filt": (["c++filt"], {"feed": b"_Z3foov\n" * 2000 + b"ready\n"}),
        "addr2line": (["addr2line", "-e", "/usr/bin/gdb"], {"feed": b"0\n", "says": b"?"}),
        "bc": (["bc", "-q"], {"feed": b'x = 2^20000\nprint "ready\\n"\n'}),
        "m4": (["m4"], lines | {"says": b"line 19900"}),  # it keeps its last lines until its input ends
    }


def is_installed(name):
    if name == "python3 with matplotlib":
        return subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False,
                              capture_output=True).returncode == 0
    return shutil.which(name.split()[0]) is not None


class SheetOfProgramsTest(ToolTest):
    def look_at(self, pid):
        result = self.tarn("top", pid, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def check(self, name, command, arguments):
        with LookedAt([str(word) for word in command], TARN, **arguments) as program:
            program.stop()
            look, rss = self.look_at(program.pid), program.kernel_rss()
        sheet = look["sheet"]
        error = sheet["sum_bytes"] / rss - 1
        parts = " ".join(f"{part} {bytes_ >> 10}" for part, bytes_ in sheet["parts"].items())
        print(f"{name}: RSS {rss >> 10} KiB, {100 * error:+.3f} %: {parts}", flush=True)
        self.assertLess(abs(error), LARGEST_ERROR, f"{name}: {sheet}")
        self.assertTrue(look["exactness"]["is_exact"], f"{name} was stopped: {look['exactness']}")
        self.assertGreater(sheet["parts"]["live"], 0, name)

    def test_the_parts_are_rss_within_one_percent(self):
        installed = {name: job for name, job in programs(self.scratch).items() if is_installed(name)}
        self.assertGreaterEqual(len(installed), LEAST_PROGRAMS)
        for name, (command, arguments) in installed.items():
            with self.subTest(program=name):
                self.check(name, command, arguments)


if __name__ == "__main__":
    unittest.main()
