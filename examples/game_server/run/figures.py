"""From runs to figures: medians over rounds, percentiles over the ticks of all rounds.

A percentile beyond the median is told only where enough ticks took longer; else the maximum speaks for the
tail.
"""

import statistics

FIGURES = [  # key, title, unit, factor into that unit, digits, whether more is better
    ("packets_per_second", "packets/s", "k", 1e-3, 0, True),
    ("tick_p50", "tick p50", "ms", 1e-6, 2, False),
    ("tick_p90", "p90", "ms", 1e-6, 2, False),
    ("tick_p99", "p99", "ms", 1e-6, 2, False),
    ("tick_p999", "p99.9", "ms", 1e-6, 2, False),
    ("tick_max", "max", "ms", 1e-6, 2, False),
    ("cpu_microseconds_per_packet", "CPU/packet", "us", 1, 3, False),
    ("peak_rss_bytes", "peak RSS", "MiB", 2**-20, 1, False),
    ("idle_rss_bytes", "idle RSS", "MiB", 2**-20, 1, False),
    ("allocations_per_tick", "allocs/tick", "k", 1e-3, 1, None),
]


TAILS = [("p90", "p90", 0.9), ("p99", "p99", 0.99), ("p999", "p99.9", 0.999)]
LEAST_BEYOND = 10  # samples above a percentile; with fewer it is little else than the maximum


def percentile(ordered, fraction):
    """The smallest value that at least that fraction of all does not exceed."""
    rank = -(-fraction * len(ordered) // 1)
    return ordered[max(int(rank) - 1, 0)]


def percentiles(samples, prefix):
    """The median, the percentiles that so many samples allow, and the maximum."""
    ordered = sorted(samples)
    tails = [(key, fraction)
             for key, _, fraction in TAILS if round(len(ordered) * (1 - fraction), 6) >= LEAST_BEYOND]
    return {f"{prefix}_p50": percentile(ordered, 0.5), f"{prefix}_max": ordered[-1],
            **{f"{prefix}_{key}": percentile(ordered, fraction) for key, fraction in tails}}


def summary(runs):
    """One figure per key of FIGURES that the samples allow, and the CPU time of ticks, from a contender's
    runs."""
    figures = {key: statistics.median(run[key] for run in runs)
               for key in ("packets_per_second", "cpu_microseconds_per_packet", "cpu_percent",
                           "peak_rss_bytes",
                           "idle_rss_bytes", "allocations_per_tick")}
    for clock, prefix in (("wall", "tick"), ("cpu", "tick_cpu")):
        figures |= percentiles([t for run in runs for t in run[f"tick_{clock}_nanoseconds"]], prefix)
    figures["tick_count"] = sum(len(run["tick_wall_nanoseconds"]) for run in runs)
    return figures


def shown_figures(summaries):
    """Those of FIGURES that every contender has."""
    return [figure for figure in FIGURES if all(figure[0] in summary for summary in summaries)]


def tail_figure(summaries):
    """What the comparison takes for the longest ticks: the highest percentile if all contenders have it, or
    the maximum."""
    key, title, _ = TAILS[-1]
    return (key, title) if all(f"tick_{key}" in summary for summary in summaries) else ("max", "max")


def best_of(summaries, key, more_is_better):
    values = [s[key] for s in summaries.values()]
    return (max if more_is_better else min)(values)


def table(summaries):
    """Lines of text; the best of each column has a star."""
    names = list(summaries)
    columns = [["", *names]]
    for key, title, unit, factor, digits, more_is_better in shown_figures(summaries.values()):
        best = best_of(summaries, key, more_is_better) if more_is_better is not None else None
        cells = [f"{summaries[name][key] * factor:.{digits}f}"
                 + ("*" if summaries[name][key] == best else " ")
                 for name in names]
        columns.append([f"{title} {unit} ", *cells])
    widths = [max(map(len, column)) for column in columns]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))) for row in zip(*columns)]


def beside_the_best(summaries, ours, peers, keys):
    parts = []
    for key, title in keys:
        choose = max if key == "packets_per_second" else min
        best = choose(peers, key=lambda name: summaries[name][key])
        parts.append(f"{title} {summaries[ours][key] / summaries[best][key]:.2f}x {best}'s")
    return ", ".join(parts)


def verdict(summaries, ours, peers):
    """How our pools stand beside the best of all others, figure by figure; and once more by CPU time, which
    other work on the machine disturbs far less."""
    peers = [name for name in peers if name in summaries]
    if ours not in summaries or not peers:
        return []
    key, title = tail_figure(summaries.values())
    wall = (("packets_per_second", "packets/s"), (f"tick_{key}", f"tick {title}"),
            ("peak_rss_bytes", "peak RSS"),
            ("idle_rss_bytes", "idle RSS"))
    cpu = (("cpu_microseconds_per_packet", "a packet"), ("tick_cpu_p50", "tick p50"),
           (f"tick_cpu_{key}", f"tick {title}"))
    return [f"{ours} beside the best general allocator of each: "
            f"{beside_the_best(summaries, ours, peers, wall)}.",
            f"In the server's own CPU time: {beside_the_best(summaries, ours, peers, cpu)}."]
