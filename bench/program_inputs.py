"""The real programs that the scripts here run and record, and what each of them works on.

Every input is made here, from fixed seeds, so that a run needs nothing but Debian's packages. A program is
one command without a shell; it reads files of the work folder only.
"""

import random
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace

import program_scripts

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
WORDS = 800_000


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple
    input: str = "/dev/null"
    # Threads that race for work may write the same content in another order.
    is_output_fixed: bool = True


PROGRAMS = (
    Program("python3", ("/usr/bin/python3", "-S", "script.py")),
    Program("perl", ("perl", "script.pl")),
    Program("sqlite3", ("sqlite3", ":memory:"), input="script.sql"),
    Program("g++", ("g++", "-std=c++20", "-fsyntax-only", "source.cc")),
    Program("git-log", ("git", "-C", "repository", "log", "-p", "--stat")),
    Program("git-pack", ("git", "-C", "repository", "pack-objects", "--all", "--revs", "--no-reuse-delta",
                         "--threads=2", "--stdout", "-q"), is_output_fixed=False),
    Program("lua", ("lua5.4", "script.lua")),
    Program("jq", ("jq", "group_by(.kind) | map({kind: .[0].kind, n: length, names: map(.name) | unique})",
                   "data.json")),
    Program("awk", ("awk", "-f", "script.awk", "words.txt")),
    Program("bash", ("bash", "script.sh")),
    Program("cmake", ("cmake", "-P", "script.cmake")),
    Program("sort", ("sort", "--parallel=2", "-k3,3", "-k1,1", "words.txt", "words.txt")),
    Program("g++-O2", ("g++", "-std=c++20", "-O2", "-S", "-o", "-", "source.cc")),
    Program("clang", ("clang++", "-std=c++20", "-O2", "-S", "-o", "-", "source.cc")),
    Program("ruby", ("ruby", "script.rb")),
    Program("web", ("/usr/bin/python3", "-S", "web.py")),
    Program("dns", ("named-checkzone", "-q", "-D", "-o", "-", "example.org", "zone.txt")),
    Program("xsltproc", ("xsltproc", "style.xsl", "list.xml")),
    Program("z3", ("z3", "puzzle.smt2")),
    Program("dot", ("dot", "-Tplain", "graph.dot")),
    Program("python3-ast", ("/usr/bin/python3", "-S", "tree.py")),
    Program("php", ("php", "-n", "-d", "memory_limit=-1", "script.php")),
)  # fmt: skip

SMALL_PROGRAMS = (Program("true", ("true",)), Program("ls", ("ls", "-l", "/usr/lib")))


def environment(home):
    """The same for every program and machine: no settings of the user."""
    return {
        "PATH": SEARCH_PATH,
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONMALLOC": "malloc",
        "PYTHONHASHSEED": "0",
        "PERL_HASH_SEED": "0",
        "USE_ZEND_ALLOC": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_PAGER": "cat",
    }


def is_installed(program):
    return shutil.which(program.command[0], path=SEARCH_PATH) is not None


def worker_of(program, folder):
    """The program whose process does the work: g++ only starts the compiler, which is another one."""
    if program.command[0] != "g++":
        return program
    planned = subprocess.run([*program.command, "-###"], env=environment(folder), cwd=folder, check=True,
                             capture_output=True, text=True).stderr  # fmt: skip
    compiler = next(line for line in planned.splitlines() if "cc1plus" in line.split(" -", 1)[0])
    return replace(program, command=tuple(shlex.split(compiler)))


def write_inputs(folder):
    """All inputs, into a folder that is empty."""
    inputs = {
        "script.py": program_scripts.PYTHON_SCRIPT, "tree.py": program_scripts.TREE_SCRIPT,
        "script.php": program_scripts.PHP_SCRIPT, "script.pl": program_scripts.PERL_SCRIPT,
        "script.sql": program_scripts.SQL_SCRIPT, "source.cc": program_scripts.CXX_SOURCE,
        "script.lua": program_scripts.LUA_SCRIPT, "script.awk": program_scripts.AWK_SCRIPT,
        "script.sh": program_scripts.BASH_SCRIPT, "script.cmake": program_scripts.CMAKE_SCRIPT,
        "script.rb": program_scripts.RUBY_SCRIPT, "web.py": program_scripts.WEB_SCRIPT,
        "style.xsl": program_scripts.STYLE_SHEET, "list.xml": _xml_list(), "zone.txt": _zone(),
        "graph.dot": _graph(), "puzzle.smt2": _queens(24),
        "words.txt": _words(), "data.json": _json_records(),
    }  # fmt: skip
    for name, text in inputs.items():
        (folder / name).write_text(text)
    _make_repository(folder)


def _words():
    """Lines of eight words; few words are frequent, most are rare."""
    numbers = random.Random(1)
    syllables = ["ka", "to", "ri", "men", "sa", "lo", "ve", "dun", "pi", "gra"]

    def word():
        rank = int(numbers.paretovariate(0.6)) % 50_000
        return "".join(syllables[int(digit)] for digit in str(rank))

    return "\n".join(" ".join(word() for _ in range(8)) for _ in range(WORDS // 8)) + "\n"


def _json_records():
    numbers = random.Random(2)
    records = [
        f'{{"id":{i},"name":"user {numbers.randrange(9000)}","kind":{numbers.randrange(300)},'
        f'"tags":["a{i % 7}","b{i % 11}"]}}'
        for i in range(40_000)
    ]
    return "[" + ",\n".join(records) + "]\n"


def _xml_list():
    numbers = random.Random(4)
    items = "\n".join(f'<item id="{i}" kind="{numbers.randrange(400)}">'
                      f"<name>user {numbers.randrange(9000)}</name>"
                      f"<tag>a{i % 7}</tag><tag>b{i % 11}</tag></item>"
                      for i in range(40_000))  # fmt: skip
    return f"<list>\n{items}\n</list>\n"


def _zone():
    """A zone of 60,000 hosts, as a name server loads it."""
    numbers = random.Random(5)
    head = ("$TTL 3600\n@ IN SOA ns.example.org. root.example.org. 1 7200 900 1209600 3600\n"
            "@ IN NS ns\nns IN A 192.0.2.1\n")  # fmt: skip
    hosts = (f"host{i}.rack{i % 97} IN A 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\n"
             f'host{i}.rack{i % 97} IN TXT "serial {numbers.getrandbits(64):x}"\n' for i in range(60_000))
    return head + "".join(hosts)


def _graph():
    numbers = random.Random(6)
    edges = "".join(f"  n{i} -> n{numbers.randrange(max(0, i - 40), i)};\n" for i in range(1, 1600))
    return f"digraph {{\n{edges}}}\n"


def _queens(count):
    """So many queens on a board of that size, none of which attacks another."""
    lines = [f"(declare-const q{i} Int)\n(assert (and (>= q{i} 0) (< q{i} {count})))" for i in range(count)]
    for i in range(count):
        for j in range(i):
            lines.append(f"(assert (and (not (= q{i} q{j})) (not (= (- q{i} q{j}) {i - j})) "
                         f"(not (= (- q{j} q{i}) {i - j}))))")  # fmt: skip
    return "\n".join([*lines, "(check-sat)", ""])


def _make_repository(folder):
    """A repository of 400 commits to 60 files, by one import; its history does not depend on the clock."""
    if shutil.which("git", path=SEARCH_PATH) is None:
        return
    repository = folder / "repository"
    options = {"env": environment(folder), "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], **options)
    subprocess.run(["git", "-C", str(repository), "fast-import", "--quiet"], input=_history(), **options)


def _history():
    numbers = random.Random(3)
    files = {f"folder{i % 6}/file{i}.txt": [_line(numbers) for _ in range(300)] for i in range(60)}
    parts = []
    for commit in range(1, 401):
        parts.append(f"commit refs/heads/main\ncommitter A <a@example.org> {1_600_000_000 + commit * 3600} "
                     "+0000\n")
        parts.append(_data(f"Change {commit}\n"))
        for name in numbers.sample(sorted(files), 6):
            lines = files[name]
            for _ in range(12):
                lines[numbers.randrange(len(lines))] = _line(numbers)
            parts.append(f"M 100644 inline {name}\n{_data(chr(10).join(lines) + chr(10))}")
    return "".join(parts).encode()


def _line(numbers):
    return " ".join(f"{numbers.getrandbits(28):x}" for _ in range(6))


def _data(text):
    return f"data {len(text.encode())}\n{text}\n"
