#!/usr/bin/env python3
"""Writes what docs/benchmarks.md, docs/pools/adapters.md and bench/results/README.md say of the
reference run of `tarn bench`, or checks it: figures in prose rot, so these come from the run's JSON.

Each file holds blocks between `<!-- claims: NAME -->` and `<!-- end -->`; what stands between is made here.
"""

import argparse
import json
import lzma
import math
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FILES = ("docs/benchmarks.md", "bench/results/README.md", "docs/pools/adapters.md")
BLOCK = re.compile(r"(<!-- claims: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

OTHER_MALLOCS = ("system", "general")
OURS = ("tarn", "tarn-inline", "tarn-pool")
SOURCES = {
    "000": "a size-class pool",
    "001": "the low-fragmentation heap, TBB",
    "002": "thread, central and page cache",
    "003": "a fixed-size pool",
    "004": "typed objects",
    "ours": "what these leave out",
}
BEHIND = 0.9  # a row in which tarn is slower than this share of the best other's speed is told

# Speed beside the best other malloc of each row that the project wants: (preloaded, inlined).
TARGETS = {
    "000_single": (1.4, 1.7), "000_multi": (1.4, 1.7), "000_stress_single": (1.4, 1.7),
    "000_stress_multi": (1.4, 1.7),
    "000_mixed": (1.4, 1.7), "001_1024": (1.4, 1.7), "001_2048": (1.4, 1.7), "001_4096": (1.4, 1.7),
    "001_8192": (1.4, 1.7), "001_16344": (1.15, 1.7), "001_32767": (1.15, 1.7), "002_fixed": (1.4, 1.7),
    "002_mixed": (1.15, 1.7), "004_batches": (1.4, 1.7), "cross_thread": (1.0, 1.0), "server": (1.0, 1.0),
    "latency": (1.0, 1.0),
}  # fmt: skip

THREAD_SAFE = ("glibc", "mimalloc", "jemalloc", "tcmalloc", "tbb", "boost-singleton", "loki-locked",
               "foonathan-locked", "pmr-synchronized")  # fmt: skip
MONOTONIC = ("pmr-monotonic", "pmr-monotonic-local")  # by a virtual call, and as a local object


@dataclass(frozen=True)
class PoolTarget:
    """One of tarn's pools against each of some others: the geometric mean over rows of theirs / ours, the
    strongest."""

    what: str
    ours: str
    others: tuple
    group: str
    at_least: float
    rows: str = ""  # a regular expression that the row's name holds


POOL_TARGETS = (
    PoolTarget("FixedPool, Boost's pool", "tarn-fixed", ("boost-pool",), "003_fixed", 1.3),
    PoolTarget("FixedPool, random sizes, Boost's pool", "tarn-fixed", ("boost-pool",), "003_random_sizes",
               1.3),
    PoolTarget("ObjectPool, Boost's pool", "tarn-object", ("boost-pool",), "003_fixed", 1.3),
    PoolTarget("FixedPool, thread-safe others, one thread", "tarn-fixed", THREAD_SAFE, "003_fixed", 2),
    PoolTarget("FixedPool, thread-safe others, in a process with threads", "tarn-fixed", THREAD_SAFE,
               "003_threaded", 2),
    PoolTarget("ObjectPool, thread-safe others, in a process with threads", "tarn-object", THREAD_SAFE,
               "003_threaded", 2),
    PoolTarget("ObjectPool, 004's batches, mallocs", "tarn-object", THREAD_SAFE[:5], "004_batches", 2),
    PoolTarget("runs among 40,000 blocks, Boost's ordered calls", "tarn-fixed", ("boost-ordered",),
               "003_contiguous", 100,
               "40000"),
    PoolTarget("Arena over a buffer, monotonic_buffer_resource", "tarn-arena", MONOTONIC, "arena", 1,
               "buffer"),
    PoolTarget("Arena that grows, the same", "tarn-arena", MONOTONIC, "arena", 1, "grow"),
    PoolTarget("Arena made anew, the same", "tarn-arena", MONOTONIC, "arena", 1, "fresh"),
)  # fmt: skip


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(runs, metric):
    """What `tarn bench` says of samples; committed runs leave it out. None without samples."""
    values = [run[metric] for run in runs if metric in run]
    if not values:
        return None
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return {"lower_quartile": lower, "median": median, "upper_quartile": upper}


def reference_file():
    """Of the runs beside Debian's allocators the last committed."""
    runs = sorted(PROJECT.glob("bench/results/*/bench.json.xz"))
    if not runs:
        raise SystemExit("bench/results has no bench.json.xz; its README says how it is made")
    return runs[-1]


class Run:
    """A result of `tarn bench`, as ratios."""

    def __init__(self, path):
        self.json = json.loads(lzma.decompress(path.read_bytes()))
        self.kinds = {one["name"]: one["kind"] for one in self.json["allocators"]}
        self.synchronised = {one["name"]: one["synchronised"] for one in self.json["allocators"]}
        self.groups = {group["group"]: [row for row in group["rows"] if row["metric"] == "ns"]
                       for group in self.json["groups"]}  # fmt: skip
        for one in (one for rows in self.groups.values() for row in rows for one in row["allocators"]):
            one["summary"] = {metric: summary(one["runs"], metric)
                              for metric in ("ns", "peak_rss_bytes", "rss_after_bytes")}  # fmt: skip

    def names(self, kinds):
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def rivals(self, name):
        """With whom tables compare one of ours: other mallocs, inlined ones too where it is inlined itself,
        and with a pool the other libraries' pools that are synchronised as it is."""
        kinds = list(OTHER_MALLOCS) + ["inline"] * (self.kinds[name] != "tarn")
        pools = [pool for pool in self.names(["pool"]) if self.synchronised[pool] == self.synchronised[name]]
        return self.names(kinds) + (pools if self.kinds[name] == "tarn-pool" else [])

    @staticmethod
    def summary_of(row, name):
        return next((one["summary"][row["metric"]] for one in row["allocators"] if one["name"] == name), None)

    def fastest(self, row, names):
        """(summary, name) of the fastest of those that have run the row; None if none has."""
        found = [(self.summary_of(row, name), name) for name in names if self.summary_of(row, name)]
        return min(found, key=lambda one: one[0]["median"], default=None)

    def ratios(self, groups, name, others):
        """[(best of the others / own, group, row name, own summary, best summary, its name)]."""
        found = []
        for group in groups:
            for row in self.groups[group]:
                own = self.summary_of(row, name)
                best = self.fastest(row, others)
                if own and best:
                    found.append((best[0]["median"] / own["median"], group, row["row"], own, *best))
        return found

    def mean(self, groups, name, others):
        ratios = [one[0] for one in self.ratios(groups, name, others)]
        return geometric_mean(ratios) if ratios else None

    def groups_of(self, source):
        numbered = [group for group in self.groups if group.startswith(source)]
        return numbered if source != "ours" else [group for group in self.groups if not group[0].isdigit()]


def table(header, lines):
    rule = ["---"] + ["---:" for _ in header[1:]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *lines]) + "\n"


def strongest_single(run, groups, names, rivals):
    """The one other allocator that comes nearest to being the best everywhere, by the same measure."""
    means = [(run.mean(groups, name, rivals), name) for name in names]
    complete = max(len(run.ratios(groups, name, rivals)) for name in names)
    means = [(mean, name) for mean, name in means
             if mean and len(run.ratios(groups, name, rivals)) == complete]  # fmt: skip
    mean, name = max(means)
    return f"{name} {mean:.2f}"


def mean_and_worst(run, groups, name, others):
    ratios = run.ratios(groups, name, others)
    if not ratios:
        return ""
    return f"{geometric_mean([one[0] for one in ratios]):.2f} ({min(one[0] for one in ratios):.2f})"


def machine_line(run):
    machine = run.json["machine"]
    return (f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, glibc {machine['glibc']}, "
            "huge pages "
            f"{machine['transparent_huge_pages']}; {run.json['rounds_done']} rounds at scale "
            f"{run.json['scale']:g}, "
            f"{run.json['date'][:10]}.\n")  # fmt: skip


def pools_line(run, source, synchronised):
    """tarn's pools of one kind beside their rivals, and the other pool that comes nearest to being the
    best."""
    groups = run.groups_of(source)
    rows = {name: len(run.ratios(groups, name, run.rivals(name))) for name in run.names(["tarn-pool"])
            if run.synchronised[name] == synchronised}  # fmt: skip
    most = max(rows.values(), default=0)
    ours = [name for name, count in rows.items() if 2 * count >= most > 0]
    if not ours:
        return None
    rivals = run.rivals(ours[0])
    pools = [(run.mean(groups, pool, rivals), pool, len(run.ratios(groups, pool, rivals)))
             for pool in rivals if run.kinds[pool] == "pool"]
    nearest = max((one for one in pools if 2 * one[2] >= most), default=None)
    kind = "any thread" if synchronised else "one thread"
    measured = ", ".join(f"{name} {mean_and_worst(run, groups, name, rivals)}" for name in ours)
    single = f"{nearest[1]} {nearest[0]:.2f} in {nearest[2]} rows" if nearest else ""
    return [f"{source}, pools for {kind}", str(most), "", measured, single]


def headline(run):
    mallocs = run.names(OTHER_MALLOCS)
    lines = []
    for source, title in SOURCES.items():
        groups = run.groups_of(source)
        rows = len(run.ratios(groups, "tarn", mallocs))
        lines.append([f"{source}, {title}", str(rows), mean_and_worst(run, groups, "tarn", mallocs),
                      mean_and_worst(run, groups, "tarn-inline", mallocs),
                      strongest_single(run, groups, mallocs, mallocs)])  # fmt: skip
        if source == "003":  # a benchmark of pools
            lines += filter(None, (pools_line(run, source, synchronised) for synchronised in (False, True)))
    header = ["benchmark", "rows", "tarn preloaded (worst row)", "tarn inlined (worst row)",
              "best single other"]
    return machine_line(run) + "\n" + table(header, lines)


def nanoseconds(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def speed(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def where_tarn_loses(run):
    lines = []
    for group in run.groups:
        for name in run.names(OURS):
            ratios = run.ratios([group], name, run.rivals(name))
            behind = [one for one in ratios if one[0] < BEHIND
                      and one[4]["upper_quartile"] < one[3]["lower_quartile"]]
            if not behind:
                continue
            ratio, _, row, own, best, other = min(behind, key=lambda one: one[0])
            lines.append([group, name, f"{len(behind)} of {len(ratios)}", speed(ratio), row,
                          f"{other} {nanoseconds(best['median'])}, {name} {nanoseconds(own['median'])}"])
    header = ["group", "of", f"rows behind ({BEHIND:g} or less)", "worst", "row", "ns"]
    return table(header, lines)


def verdict(figure, target):
    return f"{figure:.2f}" if figure >= target else f"**{figure:.2f}**"


def targets(run):
    mallocs = run.names(OTHER_MALLOCS)
    lines = []
    for group, (preloaded, inlined) in TARGETS.items():
        drop_in, inline = (run.mean([group], name, mallocs) for name in ("tarn", "tarn-inline"))
        lines.append([group, f"{preloaded:g}", verdict(drop_in, preloaded), f"{inlined:g}",
                      verdict(inline, inlined)])
    return table(["group", "preloaded: at least", "measured", "inlined: at least", "measured"], lines)


def pool_ratios(run, target, other):
    rows = [row for row in run.groups[target.group] if re.search(target.rows, row["row"]) and not row["cold"]]
    pairs = [(run.summary_of(row, other), run.summary_of(row, target.ours)) for row in rows]
    return [theirs["median"] / own["median"] for theirs, own in pairs if theirs and own]


def pool_targets(run):
    lines = []
    for target in POOL_TARGETS:
        of_others = {other: pool_ratios(run, target, other) for other in target.others}
        mean, strongest = min((geometric_mean(ratios), other)
                              for other, ratios in of_others.items() if ratios)
        worst = min(of_others[strongest])
        lines.append([target.what, f"{target.at_least:g}", f"{verdict(mean, target.at_least)} ({strongest})",
                      f"{worst:.2f}"])
    return table(["target", "at least", "measured, the strongest other", "its worst row"], lines)


RESOURCE_GROUPS = {
    "003_fixed": "10,000 blocks of one size, one thread",
    "003_threaded": "the same, in a process with threads",
    "near_full": "one block at a time, or a random one of many replaced",
    "004_batches": "batches of objects, one or several threads",
    "shared": "one resource of one or several threads",
}
RESOURCES = ("tarn-inline", "pmr-unsynchronized", "pmr-synchronized", "pmr-new-delete")
ARENAS = {"buffer": "over a buffer with room for all", "grow": "that grows, and is reset",
          "fresh": "made, grown and ended"}  # fmt: skip


def times_as_long(pairs):
    """"geometric mean (least to most)" of theirs / own."""
    ratios = [theirs["median"] / own["median"] for theirs, own in pairs if theirs and own]
    if not ratios:
        return ""
    mean, least, most = (f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
                         for ratio in (geometric_mean(ratios), min(ratios), max(ratios)))
    return f"{mean} ({least} to {most})"


def pmr(run):
    def pairs(rows, theirs, own):
        return [(run.summary_of(row, theirs), run.summary_of(row, own)) for row in rows if not row["cold"]]

    lines = [[what, *(times_as_long(pairs(run.groups[group], other, "tarn-resource")) for other in RESOURCES)]
             for group, what in RESOURCE_GROUPS.items()]  # fmt: skip
    pools = table(["time / that of `default_resource()`", "`tarn::allocate`, inlined",
                   "`unsynchronized_pool_resource`", "`synchronized_pool_resource`",
                   "`new_delete_resource` on glibc"], lines)  # fmt: skip
    lines = []
    for word, what in ARENAS.items():
        rows = [row for row in run.groups["arena"] if row["row"].startswith(word)]
        lines.append([what, *(times_as_long(pairs(rows, other, "tarn-arena-resource"))
                              for other in ("tarn-arena", "pmr-monotonic"))])  # fmt: skip
    arenas = table(["time / that of `memory_resource<Arena>`", "`Arena`, inlined",
                    "`monotonic_buffer_resource`"], lines)  # fmt: skip
    explanation = ("Each figure is the geometric mean over the rows, with the least and the most of them; "
                   "above 1 tarn's resource is faster.\n")  # fmt: skip
    return "\n".join((machine_line(run) + explanation, pools, arenas))


def means_over_all_rows(run):
    """{malloc: {metric: mean, of the best of each row}} over the rows that all of them have run, and how many
    these are."""
    names = run.names(("tarn", "tarn-inline", *OTHER_MALLOCS))
    rows = [{name: of["summary"] for of in row["allocators"] if (name := of["name"]) in names}
            for group in run.groups.values() for row in group]  # fmt: skip
    rows = [row for row in rows if len(row) == len(names)]
    means = {name: {metric: geometric_mean([row[name][metric]["median"] /
                                            min(of[metric]["median"] for of in row.values()) for row in rows])
                    for metric in ("ns", "peak_rss_bytes", "rss_after_bytes")}
             for name in names}  # fmt: skip
    return means, len(rows)


def standing(run):
    """Each malloc over all rows that all have run: speed, and memory, beside the best of each row."""
    means, row_count = means_over_all_rows(run)
    lines = [[name, f"{1 / of['ns']:.2f}", f"{of['peak_rss_bytes']:.2f}", f"{of['rss_after_bytes']:.2f}"]
             for name, of in means.items()]  # fmt: skip
    header = [f"{row_count} rows", "speed beside the best of each", "peak memory, of the leanest",
              "memory after"]
    return table(header, lines)


def standing_in_words(run):
    """The same of tarn preloaded, of the fastest other and the leanest."""
    means, row_count = means_over_all_rows(run)
    others = [name for name in means if not name.startswith("tarn")]
    fastest = min(others, key=lambda name: means[name]["ns"])
    leanest = min(others, key=lambda name: means[name]["peak_rss_bytes"])
    others = ", ".join(name for name in others if name != "glibc")
    return (f"Beside glibc, {others}, over all {row_count} rows: tarn preloaded has "
            f"{1 / means['tarn']['ns']:.2f} of the speed of the best of each row, the fastest other "
            f"({fastest}) {1 / means[fastest]['ns']:.2f}; its peak memory is "
            f"{means['tarn']['peak_rss_bytes']:.2f} times that of the leanest of each row, that of {leanest} "
            f"{means[leanest]['peak_rss_bytes']:.2f}, of {fastest} "
            f"{means[fastest]['peak_rss_bytes']:.2f}.\n")


CLAIMS = {"pmr": pmr, "headline": headline, "where_tarn_loses": where_tarn_loses, "targets": targets,
          "pool_targets": pool_targets, "standing": standing, "standing_in_words": standing_in_words}


def with_claims(text, run):
    return BLOCK.sub(lambda match: match[1] + CLAIMS[match[2]](run) + match[3], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 where a file says something else")
    options = parser.parse_args()
    run = Run(reference_file())
    status = 0
    for path in (PROJECT / name for name in FILES):
        old = path.read_text(encoding="utf-8")
        if not BLOCK.search(old):
            raise SystemExit(f"{path} has no block of claims")
        new = with_claims(old, run)
        if new == old:
            continue
        if options.check:
            print(f"{path.relative_to(PROJECT)} does not say what the runs in bench/results do; "
                  "run scripts/benchmark_claims.py", file=sys.stderr)
            status = 1
        else:
            path.write_text(new, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
