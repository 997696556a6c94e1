"""The pools' targets, judged, and tables of rows in markdown.

A target compares one of tarn's pools with each of some peers: per peer the geometric mean over rows of peer / tarn; the
figure is that of the strongest peer. It is told twice: from the medians of the rounds, which decide, and from each
contestant's fastest round, which a machine that others use disturbs less.
"""

import os
import statistics
from dataclasses import dataclass
from typing import Callable

from allocators import PEER_LIBRARIES
from row_results import geometric_mean, spread, table

GENERAL = tuple(PEER_LIBRARIES)
THREAD_SAFE = (*GENERAL, "boost-singleton", "loki-locked", "foonathan-locked", "pmr-synchronized")
FLAT_LIMIT = 1.5  # how much dearer a run may be among 40,000 blocks than among 1000: the caches' share

# What is shown of a group beside the figure of its rows.
FIELDS = {
    "004_batches": ("allocate_ns", "free_ns", "min_ns", "p99.9_ns", "max_ns"),
    "004_single_calls": ("allocate_p50_ns", "allocate_p99.9_ns", "allocate_max_ns",
                         "free_p50_ns", "free_p99.9_ns", "free_max_ns"),
}  # fmt: skip


def is_ours(name):
    return name.startswith("tarn")


def warm(row):
    return not row.startswith("cold/")


def one_thread(row):
    return row.endswith("/threads/1")


def crowded(row):
    """More threads than cores: the longest batches are time slices, of whichever pool."""
    return int(row.rsplit("/", 1)[1]) > (os.cpu_count() or 1)


def own_core(row):
    return not crowded(row)


@dataclass(frozen=True)
class Target:
    what: str
    ours: str
    peers: tuple
    group: str
    rows: Callable = warm
    field: str = "ns"
    at_least: float = 1.0
    in_every_row: bool = False  # the worst row decides, not the mean


def _against_boost():
    peers = ("boost-pool",)
    return [
        Target("FixedPool, Boost's pool", "tarn-fixed", peers, "003_fixed", at_least=1.3),
        Target("FixedPool, nothing written, Boost's pool", "tarn-fixed", peers, "003_untouched", at_least=1.3),
        Target("FixedPool, random sizes, Boost's pool", "tarn-fixed", peers, "003_random_sizes", at_least=1.3),
        Target("ObjectPool, Boost's pool", "tarn-object", peers, "003_fixed", at_least=1.3),
        Target("ObjectPool, nothing written, Boost's pool", "tarn-object", peers, "003_untouched", at_least=1.3),
        Target("ObjectPool, 004's batches, Boost's pool", "tarn-object", peers, "004_batches", one_thread,
               at_least=1.3),
    ]  # fmt: skip


def _against_thread_safe():
    return [
        Target(f"{kind}, thread-safe peers, {process}", ours, THREAD_SAFE, group, at_least=2)
        for kind, ours in (("FixedPool", "tarn-fixed"), ("ObjectPool", "tarn-object"))
        for process, group in (("process of one thread", "003_fixed"), ("process with threads", "003_threaded"))
    ] + [
        Target("ObjectPool, 004's batches, thread-safe pools", "tarn-object", THREAD_SAFE[len(GENERAL):],
               "004_batches", at_least=2),
        Target("ObjectPool shared by threads, thread-safe peers", "tarn-object", THREAD_SAFE, "shared", at_least=2),
        Target("SharedFixedPool, pools behind a lock", "tarn-shared", THREAD_SAFE[len(GENERAL):], "shared"),
    ]  # fmt: skip


def _contiguous():
    def among_40000(row):
        return row.endswith("/40000")

    return [Target("runs of blocks among 40,000, Boost's ordered calls", "tarn-fixed", ("boost-ordered",),
                   "003_contiguous", among_40000, at_least=100, in_every_row=True)]  # fmt: skip


def _general():
    group = "004_batches"
    return [
        Target("004's batches, average, general allocators", "tarn-object", GENERAL, group, at_least=2),
        Target("004's batches, p99.9", "tarn-object", GENERAL, group, own_core, "p99.9_ns", in_every_row=True),
        Target("004's batches, maximum", "tarn-object", GENERAL, group, own_core, "max_ns", in_every_row=True),
        Target("004's single allocations, p99.9", "tarn-object", GENERAL, "004_single_calls", own_core,
               "allocate_p99.9_ns", in_every_row=True),
        Target("004's single frees, p99.9", "tarn-object", GENERAL, "004_single_calls", own_core, "free_p99.9_ns",
               in_every_row=True),
        Target("004's batches, p99.9, more threads than cores", "tarn-object", GENERAL, group, crowded, "p99.9_ns",
               in_every_row=True),
        Target("004's batches, maximum, more threads than cores", "tarn-object", GENERAL, group, crowded, "max_ns",
               in_every_row=True),
    ]  # fmt: skip


def _arena():
    return [
        Target(f"Arena, {kind}, {peer}", "tarn-arena", (peer,), "arena", lambda row, kind=kind: row.startswith(kind))
        for peer in ("pmr-monotonic", "pmr-monotonic-direct")
        for kind in ("buffer", "grow", "fresh")
    ]


TARGETS = _against_boost() + _against_thread_safe() + _contiguous() + _general() + _arena()


def _ratios(results, target, peer, of_rounds):
    """[(peer / ours, row)] over the target's rows that both have run; `of_rounds` makes one figure of the rounds'."""
    found = []
    for row in filter(target.rows, results.rows(target.group)):
        theirs, own = (results.samples.get((target.group, row, name), {}).get(target.field)
                       for name in (peer, target.ours))  # fmt: skip
        if theirs and own and of_rounds(own) > 0:
            found.append((of_rounds(theirs) / of_rounds(own), row))
    return found


def _strongest(of_peers):
    """(smallest geometric mean, whose it is)."""
    return min((geometric_mean(ratio for ratio, _ in ratios), peer) for peer, ratios in of_peers.items())


def _ratios_of_peers(results, target, of_rounds):
    of_peers = {peer: _ratios(results, target, peer, of_rounds) for peer in target.peers}
    return {peer: ratios for peer, ratios in of_peers.items() if ratios}


def _judged(results, target):
    """Cells of a target's line, or None when nothing was measured for it."""
    of_peers = _ratios_of_peers(results, target, statistics.median)
    if not of_peers:
        return None
    mean, strongest = _strongest(of_peers)
    fastest_mean, fastest_peer = _strongest(_ratios_of_peers(results, target, min))
    worst, worst_row, worst_peer = min((ratio, row, peer) for peer, rows in of_peers.items() for ratio, row in rows)
    figure = worst if target.in_every_row else mean
    wanted = f"{target.at_least:g}" + (" in every row" if target.in_every_row else "")
    return [target.what, target.group, wanted, f"{mean:.2f} {strongest}", f"{fastest_mean:.2f} {fastest_peer}",
            f"{worst:.2f} {worst_row} {worst_peer}", _rows_met(target, of_peers),
            "met" if _reaches(target, figure) else "missed"]  # fmt: skip


def _reaches(target, ratio):
    """Times of batches must be lower than the peers', not as low."""
    return ratio >= target.at_least if target.field == "ns" else ratio > target.at_least


def _rows_met(target, of_peers):
    """In how many rows no peer is nearer than wanted."""
    worst_of_row = {}
    for ratios in of_peers.values():
        for ratio, row in ratios:
            worst_of_row[row] = min(ratio, worst_of_row.get(row, ratio))
    return f"{sum(_reaches(target, ratio) for ratio in worst_of_row.values())} of {len(worst_of_row)}"


def _flat(results):
    lines = []
    for kind in ("batch", "churn"):
        few, many = (results.median("003_contiguous", f"{kind}/{count}", "tarn-fixed") for count in (1000, 40000))
        if few and many:
            lines.append([f"runs of blocks flat in N, {kind}", "003_contiguous", f"at most {FLAT_LIMIT:g}",
                          f"{many / few:.2f} of 1000 blocks", "", "", "",
                          "met" if many / few <= FLAT_LIMIT else "missed"])  # fmt: skip
    return lines


def target_table(results):
    lines = [cells for cells in (_judged(results, target) for target in TARGETS) if cells] + _flat(results)
    header = ["target: peer / tarn", "group", "at least", "medians, strongest peer", "fastest rounds", "worst row",
              "rows there", "verdict"]  # fmt: skip
    return table(header, lines)


def _cell(values, field):
    digits = f"{statistics.median(values):.4g}"
    return f"{digits} ({100 * spread(values):.0f})" if field == "ns" else digits


def _row_line(results, group, row, names, field):
    cells, medians = [row], {}
    for name in names:
        values = results.samples.get((group, row, name), {}).get(field)
        cells.append(_cell(values, field) if values else "")
        if values:
            medians[name] = statistics.median(values)
    peers = {name: value for name, value in medians.items() if not is_ours(name)}
    if not peers:
        return cells + ["", ""]
    best = min(peers, key=peers.get)
    ratios = " · ".join(f"{peers[best] / medians[name]:.2f}" if medians.get(name) else "–"
                        for name in names if is_ours(name))  # fmt: skip
    return cells + [best, ratios]


def field_tables(results, names):
    """Per group and field a table of medians, with best peer / tarn for each of tarn's pools."""
    parts = ["Medians in ns; in brackets the spread between rounds in per cent; last the best peer, and best peer / "
             "tarn in the order of tarn's columns.\n"]  # fmt: skip
    for group in results.groups():
        present = [name for name in names if any(key[0] == group and key[2] == name for key in results.samples)]
        header = ["row", *present, "best peer", "best peer / tarn"]
        for field in ("ns", *FIELDS.get(group, ())):
            lines = [_row_line(results, group, row, present, field) for row in results.rows(group)]
            parts.append(f"### {group}{'' if field == 'ns' else f', {field}'}\n\n{table(header, lines)}")
    return "\n".join(parts)
