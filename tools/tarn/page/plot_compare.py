"""Draws what `tarn compare --json` wrote: wall time, CPU time, peak RSS and page faults of a program on each
allocator, as ratios to the system's allocator (or to the best, where that failed). Shorter bars are better.

Usage: plot_compare.py RESULTS.json PICTURE.png|PICTURE.svg
"""

import json
import shlex
import sys
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

METRICS = [
    ("wall_seconds", "wall time"),
    ("cpu_seconds", "CPU time (user + system)"),
    ("peak_rss_bytes", "peak RSS"),
    ("page_faults", "page faults"),
]
TARN, SYSTEM, OTHER = "#0b6e4f", "#737983", "#b9c4d0"
INK, FAINT = "#20242a", "#6b7280"
LONGEST_BAR = 3.0  # ratios beyond it are cut off, so that one bad allocator does not flatten all the others


def with_unit(metric, value):
    units = {"s": [("s", 1), ("ms", 1e-3), ("us", 1e-6)],
             "B": [("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)]}
    if metric == "page_faults":
        return f"{value:,.0f}"
    for name, size in units["s" if metric.endswith("seconds") else "B"]:
        if value >= size:
            return f"{value / size:.3g} {name}" if value < 1000 * size else f"{value / size:.0f} {name}"
    return f"{value:.3g}"


def colour_of(name):
    return {"tarn": TARN, "glibc": SYSTEM}.get(name, OTHER)


def ratios_of(allocators, metric):
    """(ratio, distances to its quartiles) of each allocator."""
    summaries = [a["summary"][metric] for a in allocators]
    base = summaries[0]["median"] if allocators[0]["name"] == "glibc" else min(s["median"] for s in summaries)
    base = base or 1.0
    return [
        (s["median"] / base, (s["median"] - s["lower_quartile"]) / base,
         (s["upper_quartile"] - s["median"]) / base)
        for s in summaries
    ]


def draw_bar(axes, place, name, ratio, spread, limit, text):
    length = min(ratio, limit)
    end = min(length + spread[1], limit)
    axes.barh(place, length, height=0.66, color=colour_of(name), zorder=2)
    if ratio <= limit:
        axes.errorbar(length, place, xerr=[[spread[0]], [end - length]], color=INK, linewidth=1, capsize=2.5,
                      zorder=3)
    mark = "» " if ratio > limit else ""
    weight = "bold" if name == "tarn" else "normal"
    axes.annotate(f"{mark}{ratio:.2f}", (end, place), xytext=(7, 0), textcoords="offset points", va="center",
                  fontsize=9, color=INK, weight=weight, zorder=5,
                  bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"})
    axes.annotate(text, (0, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8,
                  color=INK if colour_of(name) == OTHER else "white", zorder=4)


def draw_metric(axes, allocators, metric, title):
    ratios = ratios_of(allocators, metric)
    limit = min(max(max(ratio + above for ratio, _, above in ratios), 1.0), LONGEST_BAR)
    for place, (allocator, (ratio, below, above)) in enumerate(zip(allocators, ratios)):
        text = with_unit(metric, allocator["summary"][metric]["median"])
        draw_bar(axes, place, allocator["name"], ratio, (below, above), limit, text)
    axes.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.set_title(title, loc="left", fontsize=11, color=INK, weight="bold")
    axes.set_yticks(range(len(allocators)), [a["name"] for a in allocators], fontsize=10)
    for label in axes.get_yticklabels():
        label.set_color(TARN if label.get_text() == "tarn" else INK)
        label.set_weight("bold" if label.get_text() == "tarn" else "normal")
    axes.invert_yaxis()
    axes.set_xlim(0, limit * 1.22)
    axes.tick_params(axis="x", labelsize=8, colors=FAINT, length=0)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e5e7eb", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


def draw(results, picture):
    allocators = [a for a in results["allocators"] if a["summary"] is not None]
    base = "glibc" if allocators[0]["name"] == "glibc" else "the best"
    figure, grid = plt.subplots(2, 2, figsize=(11, 2.6 + 0.72 * len(allocators)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, wspace=0.04, hspace=0.04)
    for axes, (metric, title) in zip(grid.flat, METRICS):
        draw_metric(axes, allocators, metric, title)
    command = textwrap.shorten(shlex.join(results["command"]), 90, placeholder=" ...")
    machine = results["machine"]
    figure.suptitle(command.replace("$", r"\$"), x=0.012, ha="left", fontsize=13, weight="bold", color=INK)
    figure.supxlabel(
        f"Ratio to {base}, shorter is better; median of {len(allocators[0]['runs'])} interleaved rounds, "
        f"whiskers: quartiles.   {machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, "
        f"glibc {machine['glibc']}, {results['date'][:10]}",
        x=0.012, ha="left", fontsize=8, color=FAINT)
    figure.savefig(picture, dpi=150)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    draw(results, sys.argv[2])


if __name__ == "__main__":
    main()
