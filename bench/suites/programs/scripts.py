"""The scripts and sources that the programs of suite.json run."""

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

# What a linter or a build tool in Python does: many small objects of few kinds, in trees.
TREE_SCRIPT = """
import ast
lines = []
for i in range(1000):
    lines.append(f"def function{i}(a, b={i}, *rest):")
    lines.append(f"    total = [x * {i % 17} for x in rest if x > b] + [a, 'text {i % 97}']")
    lines.append(f"    return {{'sum': sum(total), 'name': f'{{a}}-{i}', 'rest': total[1:{i % 9}]}}")
tree = ast.parse("\\n".join(lines))
names = {}
for node in ast.walk(tree):
    names.setdefault(type(node).__name__, []).append(node)
class Rename(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Name(id=node.id + "_", ctx=node.ctx), node)
text = ast.unparse(Rename().visit(tree))
print(len(text), sorted((name, len(nodes)) for name, nodes in names.items()))
"""

PHP_SCRIPT = """<?php
$count = [];
$lines = [];
foreach (new SplFileObject('words.txt') as $number => $line) {
  if ($number >= 40000) break;
  foreach (explode(' ', trim($line)) as $word) {
    $count[$word] = ($count[$word] ?? 0) + 1;
    $lines[substr($word, 0, 4)][] = $word . $number;
  }
}
ksort($count);
$orders = array_map(fn($word, $n) => (object)['word' => $word, 'n' => $n, 'tags' => ["t$n", strrev($word)]],
                    array_keys($count), $count);
usort($orders, fn($a, $b) => $b->n <=> $a->n ?: strcmp($a->word, $b->word));
$text = json_encode($orders);
echo strlen($text), ' ', count(json_decode($text, true)), ' ', count($lines), ' ', $orders[0]->word, "\\n";
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
