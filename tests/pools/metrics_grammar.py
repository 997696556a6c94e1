#!/usr/bin/env python3
"""Reads a program's output as Prometheus' text format 0.0.4 and by the rules for names, and says what is
wrong. metrics_grammar.py PROGRAM; without one, only tests itself."""
import re
import subprocess
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (\d+)")
HELP = re.compile(rf"# HELP ({NAME}) ((?:[^\\\n]|\\\\|\\n)+)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge)")


class Fault(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Fault(message)


def name_is_good(name, kind):
    """The rules by which promtool finds fault with names."""
    require(name.startswith("tarn_"), f"{name}: not of this library")
    require(name == name.lower(), f"{name}: capitals")
    require(name.endswith("_total") == (kind == "counter"), f"{name}: a {kind}")
    require(not re.search(r"_(count|sum|bucket)$", name), f"{name}: ends as a part of a histogram does")
    require(not re.search(r"_(counter|gauge|kilobytes|kib|mib)(_|$)", name), f"{name}: a type, a scaled unit")


def labels_of(text):
    labels = {}
    for label in re.findall(LABEL, text or ""):
        name, value = label.split("=", 1)
        require(name not in labels and not name.startswith("__"), f"label {name}")
        labels[name] = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value[1:-1])
    return labels


def read(data):
    """The series: {name: {labels: value}}."""
    text = data.decode("utf-8")
    require(text.endswith("\n"), "the last line does not end")
    require("\r" not in text and "\0" not in text, "a character that ends lines elsewhere")
    metrics, kinds, helped, current = {}, {}, set(), None
    for line in text[:-1].split("\n"):
        if found := HELP.fullmatch(line):
            require(found[1] not in helped, f"two helps: {line}")
            helped.add(found[1])
        elif found := TYPE.fullmatch(line):
            require(found[1] not in kinds, f"two types: {line}")
            require(found[1] in helped, f"no help: {line}")
            current = found[1]
            kinds[current] = found[2]
            metrics[current] = {}
            name_is_good(current, found[2])
        else:
            found = SAMPLE.fullmatch(line)
            require(found, f"no series: {line}")
            require(found[1] == current, f"not with its metric: {line}")
            key = tuple(sorted(labels_of(found[2]).items()))
            require(key not in metrics[current], f"a series twice: {line}")
            require(int(found[3]) < 2**64, f"too large: {line}")
            metrics[current][key] = int(found[3])
    for name, series in metrics.items():
        require(series, f"no series of {name}")
    return metrics


def refuses(text):
    try:
        read(text.encode())
    except (Fault, UnicodeDecodeError):
        return True
    return False


def test_self():
    good = '# HELP tarn_a Some.\n# TYPE tarn_a gauge\ntarn_a{x="1",y="\\"\\\\\\n"} 7\ntarn_a 8\n'
    assert read(good.encode()) == {"tarn_a": {(("x", "1"), ("y", '"\\\n')): 7, (): 8}}
    for wrong in (good[:-1], good + "tarn_b 1\n", good + "tarn_a 9\n",
                  good.replace("tarn_a 8", "tarn_a{} 8\ntarn_a 8"),
                  good.replace('x="1"', 'x="1'), good.replace('x="1"', 'x="\\q"'),
                  good.replace("gauge", "counter"), good.replace("# HELP tarn_a Some.\n", ""), good + good,
                  good.replace(" 8", " -"), good + "\n",
                  good.replace('x="1"', 'y="1"'), good.replace("tarn_a", "tarn-a"), "# HELP tarn_a\n" + good,
                  "# HELP tarn_b Some.\n# TYPE tarn_b gauge\n" + good):
        assert refuses(wrong), wrong


def main():
    test_self()
    if len(sys.argv) < 2:
        return 0
    metrics = read(subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout)
    pools = [dict(labels) for labels in metrics["tarn_pool_pools"]]
    for name in ('tenant "one"\\', "caf\u00e9 {=,} ?", "# HELP no?comment", "object pool"):
        require(any(pool["name"] == name for pool in pools), f"no pool {name}: {pools}")
    require(any(pool.get("parent") == 'tenant "one"\\' for pool in pools), "no parent")
    twice = {"kind": "heap", "name": "twice"}
    require(metrics["tarn_pool_pools"][tuple(sorted(twice.items()))] == 2, "pools of one name are summed")
    kinds = {"fixed pool", "buffer pool", "handle pool", "object pool", "heap", "arenas"}
    require(kinds <= {pool["kind"] for pool in pools}, "a kind is missing")
    require(len(metrics) > 40, "few metrics")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        sys.exit(f"metrics: {fault}")
