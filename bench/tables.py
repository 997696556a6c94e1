"""Means, spreads and tables in markdown."""

import math
import statistics


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def spread(values):
    """Widest difference between two rounds, as a share of the median."""
    return (max(values) - min(values)) / statistics.median(values)


def table(header, lines):
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *lines]) + "\n"
