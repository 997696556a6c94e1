"""The real programs of programs.py, and what each of them works on.

Every input is made here, from fixed seeds, so that a run needs nothing but Debian's packages. A program is
one command without a shell; it reads files of the work folder only.
"""

import random
import shutil
import subprocess
from dataclasses import dataclass

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
WORDS = 800_000

PYTHON_SCRIPT = """
import json, re
records = [{"id": i, "name": f"user{i * 7919 % 65537}", "tags": [f"t{i % 97}", f"t{i % 89}"],
            "score": i * 0.37 % 101} for i in range(40000)]
text = json.dumps(records)
copies = json.loads(text)
by_name = {}
for record in copies:
    by_name.setdefault(record["name"], []).append(record)
ranked = sorted(copies, key=lambda record: (-record["score"], record["name"]))
found = re.findall(r'"name": "(user\\d+)"', text)
print(len(by_name), ranked[0], len(set(found)))
"""

PERL_SCRIPT = r"""
use strict;
my (%count, %lines_of);
open my $file, '<', 'words.txt' or die;
while (my $line = <$file>) {
  for my $word ($line =~ /(\w+)/g) {
    $count{lc $word}++;
    push @{$lines_of{substr $word, 0, 3}}, $.;
  }
}
my @top = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 20];
my $text = join ' ', map { "$_=$count{$_}" } sort keys %count;
$text =~ s/([aeiou])(\w)/$2$1/g;
print "@top ", length $text, ' ', scalar keys %lines_of, "\n";
"""

SQL_SCRIPT = """
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
  INSERT INTO item SELECT i, 'item ' || (i * 7919 % 65537), i % 251, (i * 37 % 1009) / 7.0 FROM n;
CREATE INDEX by_name ON item(name);
CREATE TABLE sale AS SELECT id * 3 % 300000 + 1 AS item, price * 2 AS paid FROM item WHERE kind < 200;
SELECT kind, count(*), sum(paid) FROM sale JOIN item ON item.id = sale.item GROUP BY kind ORDER BY 3 DESC LIMIT 5;
SELECT group_concat(name) FROM (SELECT DISTINCT name FROM item ORDER BY name LIMIT 100);
"""

CXX_SOURCE = """
#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory_resource>
#include <random>
#include <ranges>
#include <regex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
template <int N> struct Chain { std::map<int, std::variant<int, std::string, Chain<N - 1>>> next; };
template <> struct Chain<0> { std::unordered_map<std::string, std::vector<int>> last; };
int main() {
  std::regex pattern("(a|b)*c");
  Chain<10> chain;
  std::vector<std::string> words{"a", "b"};
  for (const auto& word : words)
    if (std::regex_match(word, pattern)) std::cout << word << std::filesystem::path(word) << chain.next.size();
}
"""

LUA_SCRIPT = """
local words, count = {}, {}
for line in io.lines('words.txt') do
  if #words > 150000 then break end
  for word in line:gmatch('%w+') do
    words[#words + 1] = word .. '-' .. #words % 13
    count[word] = (count[word] or 0) + 1
  end
end
local nodes = {}
for i = 1, 300000 do nodes[i] = {left = nodes[i // 2], value = words[i % #words + 1], text = 'n' .. i} end
table.sort(words)
local parts = {}
for word, n in pairs(count) do parts[#parts + 1] = word .. '=' .. n end
table.sort(parts)
print(#words, #nodes, #table.concat(parts, ' '), nodes[299999].left.text)
"""

AWK_SCRIPT = """
{ for (i = 1; i <= NF; i++) { count[$i]++; key = substr($i, 1, 2) " " NR % 997; pair[key] = pair[key] $i } }
END { for (word in count) sum += count[word] * length(word); for (key in pair) { n++; bytes += length(pair[key]) }
      print sum, n, bytes }
"""

BASH_SCRIPT = """
declare -A count
while read -r -a words && (( ++lines <= 15000 )); do
  for word in "${words[@]:0:4}"; do count[$word]=$(( ${count[$word]:-0} + 1 )); text="${word//a/bb}"; done
  list+=("${text^^}-${#list[@]}")
done < words.txt
echo "${#count[@]} ${#list[@]} ${list[*]: -3}"
"""

CMAKE_SCRIPT = """
set(list "")
foreach(i RANGE 1 12000)
  math(EXPR key "${i} * 7919 % 65537")
  list(APPEND list "item_${key}")
  set(value_${key} "text ${i} of ${key}")
  if(i MATCHES "00$")
    list(SORT list)
    string(REPLACE "item" "entry" joined "${list}")
    string(REGEX MATCHALL "[0-9]+" numbers "${joined}")
  endif()
endforeach()
list(LENGTH numbers length)
message("${length}")
"""

RUBY_SCRIPT = """
count = Hash.new(0)
lines = Hash.new { |all, word| all[word] = [] }
File.foreach('words.txt').with_index do |line, n|
  break if n >= 30_000
  line.split.each { |word| count[word] += 1; lines[word[0, 4]] << word + n.to_s }
end
top = count.sort_by { |word, n| [-n, word] }.first(20)
text = lines.map { |word, all| word + '=' + all.sort.join(',') }.join(';')
puts top.inspect, text.gsub(/([aeiou])(\\d)/, '\\2\\1').length, lines.size
"""

# A web server and its clients in one process: threads, sockets, and buffers that one thread makes and another
# frees.
WEB_SCRIPT = """
import hashlib, http.client, http.server, json, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        lines = [f"{price:.2f}" for price in order["prices"]]
        body = json.dumps({"total": sum(order["prices"]), "lines": lines}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
digests = {}
def client(number):
    connection, digest = http.client.HTTPConnection(*server.server_address), hashlib.sha256()
    for i in range(150):
        connection.request("POST", "/", json.dumps({"prices": [k * 0.37 for k in range(i * number % 700)]}))
        digest.update(connection.getresponse().read())
    digests[number] = digest.hexdigest()
    connection.close()
clients = [threading.Thread(target=client, args=(i,)) for i in range(1, 9)]
for thread in clients: thread.start()
for thread in clients: thread.join()
print(sorted(digests.items()))
server.shutdown()
"""

STYLE_SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="by-kind" match="item" use="@kind"/>
<xsl:template match="/list"><kinds>
  <xsl:for-each select="item[generate-id() = generate-id(key('by-kind', @kind)[1])]">
    <xsl:sort select="@kind" data-type="number"/>
    <kind number="{@kind}" items="{count(key('by-kind', @kind))}">
      <xsl:for-each select="key('by-kind', @kind)"><xsl:sort select="name"/>
        <xsl:copy-of select="name"/></xsl:for-each>
    </kind>
  </xsl:for-each>
</kinds></xsl:template>
</xsl:stylesheet>
"""


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
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_PAGER": "cat",
    }


def is_installed(program):
    return shutil.which(program.command[0], path=SEARCH_PATH) is not None


def write_inputs(folder):
    """All inputs, into a folder that is empty."""
    scripts = {
        "script.py": PYTHON_SCRIPT, "script.pl": PERL_SCRIPT, "script.sql": SQL_SCRIPT,
        "source.cc": CXX_SOURCE,
        "script.lua": LUA_SCRIPT, "script.awk": AWK_SCRIPT, "script.sh": BASH_SCRIPT,
        "script.cmake": CMAKE_SCRIPT, "script.rb": RUBY_SCRIPT,
        "web.py": WEB_SCRIPT,
        "style.xsl": STYLE_SHEET, "list.xml": _xml_list(), "zone.txt": _zone(), "graph.dot": _graph(),
        "puzzle.smt2": _queens(24),
    }  # fmt: skip
    for name, text in scripts.items():
        (folder / name).write_text(text)
    (folder / "words.txt").write_text(_words())
    (folder / "data.json").write_text(_json_records())
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
