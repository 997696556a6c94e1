"""The page of plots: one HTML file that needs nothing else. Its frame, style and script are those of the
command's pages; here is only what it says, as a document of parts (docs/command.md)."""

import json
from pathlib import Path

from figures import shown_figures

PLOTS = Path(__file__).resolve().parents[3] / "tools" / "tarn" / "page" / "plots"
SCRIPTS = ("text", "scales", "figures", "page")
OURS = ("tarn pools", "tarn drop-in")
FEW_TICKS = 400  # of a curve; more cannot be seen


def over_rounds(contender, key, factor):
    values = [run[key] * factor for run in contender["runs"]]
    return {"value": contender["summary"][key] * factor, "low": min(values), "high": max(values)}


def bars(contenders, key, title, way, unit, factor=1):
    """One bar from zero per contender, with a whisker over its rounds; the best first."""
    found = [{"c": i, **over_rounds(contender, key, factor)} for i, contender in enumerate(contenders)]
    is_more_better = way.startswith("more")
    return {"kind": "bars", "title": title, "axis": {"title": f"{title}; {way}", "unit": unit},
            "bars": sorted(found, key=lambda bar: bar["value"], reverse=is_more_better)}


def tick_percentiles(contenders):
    keys = [(key, title.removeprefix("tick "))
            for key, title, *_ in shown_figures([c["summary"] for c in contenders])
            if key.startswith("tick_")]
    return {"kind": "lines", "title": "Tick duration",
            "x": {"title": "percentile of all ticks", "labels": [title for _, title in keys]},
            "y": {"title": "duration of a tick; less is better", "unit": "ns", "log": True},
            "series": [{"c": i, "points": [[place, contender["summary"][key]]
                                           for place, (key, _) in enumerate(keys)]}
                       for i, contender in enumerate(contenders)]}


def by_rank(contender):
    """[share of ticks that took at most as long, in %, duration], the longest in full."""
    ticks = sorted(t for run in contender["runs"] for t in run["tick_wall_nanoseconds"])
    points = [[100 * (i + 1) / len(ticks), duration] for i, duration in enumerate(ticks)]
    step = max(1, len(points) // FEW_TICKS)
    return points[:-FEW_TICKS:step] + points[-FEW_TICKS:]


def all_ticks(contenders):
    return {"kind": "curves", "title": "All ticks, from the shortest to the longest",
            "x": {"title": "ticks", "unit": "%"},
            "y": {"title": "duration of a tick; less is better", "unit": "ns", "log": True},
            "series": [{"c": i, "points": by_rank(contender)} for i, contender in enumerate(contenders)]}


def table(contenders):
    figures = shown_figures([c["summary"] for c in contenders])
    rows = []
    for i, contender in enumerate(contenders):
        cells = [contender["name"]]
        for key, _, _, factor, digits, more_is_better in figures:
            values = [c["summary"][key] for c in contenders]
            best = None if more_is_better is None else max(values) if more_is_better else min(values)
            text = f'{contender["summary"][key] * factor:,.{digits}f}'
            cells.append({"text": text, "mark": "best"} if contender["summary"][key] == best else text)
        rows.append({"c": i, "cells": cells})
    return {"kind": "table", "title": "All figures", "note": "Medians over rounds. Green: the best.",
            "columns": ["", *(f"{title}, {unit}" for _, title, unit, *_ in figures)], "rows": rows}


def sentence_of(contenders):
    best = max(contenders, key=lambda c: c["summary"]["packets_per_second"])
    others = [c for c in contenders if c["name"] not in OURS]
    text = f"{best['name']} handles the most packets"
    if best["name"] in OURS and others:
        peer = max(others, key=lambda c: c["summary"]["packets_per_second"])
        times = best["summary"]["packets_per_second"] / peer["summary"]["packets_per_second"]
        text += f": {times:.2f} times as many as {peer['name']}, the best of the others"
    return text + "."


def document_of(results):
    contenders = [c for c in results["contenders"] if c["summary"]]
    machine, rounds = results["machine"], max(len(c["runs"]) for c in contenders)
    parts = [
        bars(contenders, "packets_per_second", "Packets per second", "more is better", "count"),
        bars(contenders, "cpu_microseconds_per_packet", "CPU time per packet", "less is better", "ns", 1000),
        tick_percentiles(contenders),
        bars(contenders, "peak_rss_bytes", "Peak RSS", "less is better", "bytes"),
        bars(contenders, "idle_rss_bytes", "RSS half a second after the last bot", "less is better", "bytes"),
        all_ticks(contenders), table(contenders),
    ]  # fmt: skip
    return {
        "title": "The game server on each kind of memory",
        "sentence": sentence_of(contenders),
        "warnings": ["The run was interrupted."] if results["interrupted"] else [],
        "about": [f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, {results['date']}",
                  f"{results['bots']} bots, {rounds} rounds of {results['measured_seconds_per_run']:.1f} s "
                  f"each, interleaved, seed {results['seed']}. Thin lines span all rounds."],
        "reading": [],
        "contenders": [{"name": c["name"], "ours": c["name"] in OURS, "group": "", "what": c["library"]}
                       for c in contenders],
        "failures": [{"name": name, "what": what} for name, what in results["failures"].items()],
        "sections": [{"title": "Speed, ticks and memory", "level": 2, "notes": [], "parts": parts}],
    }


def render(results):
    # What might end the script's element is written as an escape.
    data = json.dumps(document_of(results), separators=(",", ":")).replace("<", "\\u003c")
    page = (PLOTS / "page.html").read_text(encoding="utf-8")
    page = page.replace("@CSS@", (PLOTS / "page.css").read_text(encoding="utf-8"))
    scripts = [(PLOTS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    page = page.replace("@JS@", "".join(scripts))
    return page.replace("@DATA@", data)
