#!/usr/bin/env python3
"""Writes what the programs of suite.json work on, from fixed seeds, into the current, empty folder."""

import random
import shutil
import subprocess
from pathlib import Path

import scripts

WORDS = 800_000


def write_inputs(folder):
    inputs = {
        "script.py": scripts.PYTHON_SCRIPT, "tree.py": scripts.TREE_SCRIPT,
        "script.php": scripts.PHP_SCRIPT, "script.pl": scripts.PERL_SCRIPT,
        "script.sql": scripts.SQL_SCRIPT, "source.cc": scripts.CXX_SOURCE,
        "script.lua": scripts.LUA_SCRIPT, "script.awk": scripts.AWK_SCRIPT,
        "script.sh": scripts.BASH_SCRIPT, "script.cmake": scripts.CMAKE_SCRIPT,
        "script.rb": scripts.RUBY_SCRIPT, "web.py": scripts.WEB_SCRIPT,
        "style.xsl": scripts.STYLE_SHEET, "list.xml": _xml_list(), "zone.txt": _zone(),
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
    if shutil.which("git") is None:
        return
    repository = folder / "repository"
    options = {"check": True, "stdout": subprocess.DEVNULL}
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


if __name__ == "__main__":
    write_inputs(Path.cwd())
