"""Medians, spreads and geometric means over the samples of a run; and tables of them in markdown.

A row is judged against the peer that is best in that row: speed-up = best peer / ours, above 1 is faster.
"""

import math
import statistics

from allocators import OURS

COLD = "all cold rows"
ROW_FLOOR = 0.9
# Speed-ups the project wants: (through libtarn.so, through the inlined API).
TARGETS = {
    "000_single": (1.4, 1.7), "000_multi": (1.4, 1.7), "000_stress_single": (1.4, 1.7),
    "000_stress_multi": (1.4, 1.7), "000_mixed": (1.4, 1.7),
    "001_1024": (1.4, 1.7), "001_2048": (1.4, 1.7), "001_4096": (1.4, 1.7), "001_8192": (1.4, 1.7),
    "001_16344": (1.15, 1.7), "001_32767": (1.15, 1.7),
    "002_fixed": (1.4, 1.7), "002_mixed": (1.15, 1.7), "004_batches": (1.4, 1.7),
    "cross_thread": (1.0, 1.0), "server_mix": (1.0, 1.0),
}  # fmt: skip


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def spread(values):
    """Widest difference between two rounds, as a share of the median."""
    return (max(values) - min(values)) / statistics.median(values)


class Results:
    """Samples by group, row and allocator: {"cold": bool, "ns": [...], "peak_rss_kib": [...], ...}."""

    def __init__(self):
        self.samples = {}
        self.failures = []

    def add(self, allocator, line):
        key = (line.pop("group"), line.pop("row"), allocator)
        entry = self.samples.setdefault(key, {"cold": line.pop("cold")})
        for field, value in line.items():
            if field != "cold":
                entry.setdefault(field, []).append(value)

    def groups(self):
        return list(dict.fromkeys(group for group, _, _ in self.samples))

    def rows(self, group):
        return list(dict.fromkeys(row for of_group, row, _ in self.samples if of_group == group))

    def cold_rows(self):
        return list(dict.fromkeys((group, row) for (group, row, _), entry in self.samples.items() if entry["cold"]))

    def median(self, group, row, allocator, field="ns"):
        values = self.samples.get((group, row, allocator), {}).get(field)
        return statistics.median(values) if values else None

    def best_peer(self, group, row, field="ns"):
        """Smallest median among the peers, and whose it is."""
        peers = [name for of_group, of_row, name in self.samples if (of_group, of_row) == (group, row)]
        medians = [(self.median(group, row, name, field), name) for name in peers if name not in OURS]
        return min(medians, default=(None, None))

    def ratios(self, rows, allocator, field="ns"):
        """[(best peer / allocator, (group, row))] over the rows where both are known."""
        found = []
        for group, row in rows:
            best, _ = self.best_peer(group, row, field)
            own = self.median(group, row, allocator, field)
            if best and own:
                found.append((best / own, (group, row)))
        return found


def table(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *lines]) + "\n"


def _verdict(group, allocator, mean, worst):
    if group not in TARGETS:
        return ""
    target = TARGETS[group][OURS.index(allocator)]
    missed = [f"< {target:g}"] if mean < target else []
    missed += [f"row < {ROW_FLOOR:g}"] if worst < ROW_FLOOR else []
    return "missed: " + ", ".join(missed) if missed else "met"


def _our_cells(results, group, rows, allocator):
    ratios = results.ratios(rows, allocator)
    if not ratios:
        return ["", "", ""]
    mean = geometric_mean(ratio for ratio, _ in ratios)
    worst, (of_group, row) = min(ratios)
    worst_row = row if group == of_group else f"{of_group} {row}"
    return [f"{mean:.2f}", f"{worst:.2f} {worst_row}", _verdict(group, allocator, mean, worst)]


def _sections(results):
    sections = [(group, [(group, row) for row in results.rows(group)]) for group in results.groups()]
    cold = results.cold_rows()
    return sections + [(COLD, cold)] if cold else sections


def speed_table(results, names):
    """One line per group: geometric mean of best peer / allocator; for ours also the worst row and the target."""
    ours = [name for name in names if name in OURS]
    peers = [name for name in names if name not in OURS]
    header = ["group", "rows"]
    for name in ours:
        header += [name, "worst row", "target"]
    lines = []
    for group, rows in _sections(results):
        cells = [group, str(len(rows))]
        for name in ours:
            cells += _our_cells(results, group, rows, name)
        for name in peers:
            ratios = results.ratios(rows, name)
            cells.append(f"{geometric_mean(ratio for ratio, _ in ratios):.2f}" if ratios else "")
        lines.append(cells)
    return table(header + peers, lines)


def memory_table(results, names):
    """One line per group: geometric mean of the peak RSS over that of the leanest peer of the row."""
    lines = []
    for group, rows in _sections(results):
        means = [geometric_mean(1 / ratio for ratio, _ in results.ratios(rows, name, "peak_rss_kib")) for name in names]
        lines.append([group] + ["" if math.isnan(mean) else f"{mean:.2f}" for mean in means])
    return table(["group"] + names, lines)


def row_table(results, group, names):
    """Medians of a group's rows in ns and, in brackets, their spread in per cent."""
    lines = []
    for row in results.rows(group):
        cells = [row]
        for name in names:
            values = results.samples.get((group, row, name), {}).get("ns")
            cells.append(f"{statistics.median(values):.4g} ({100 * spread(values):.0f})" if values else "failed")
        _, best_name = results.best_peer(group, row)
        lines.append(cells + [best_name or ""])
    return table(["row"] + names + ["best peer"], lines)
