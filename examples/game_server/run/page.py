"""The page of plots: one HTML file without scripts or references, readable on light and dark screens."""

import html
import math

from figures import shown_figures

OURS = ("tarn pools", "tarn drop-in")
WIDTH, ROW, LEFT, RIGHT = 520, 26, 104, 76

STYLE = """
:root { --ground:#fff; --ink:#20242a; --faint:#6b7280; --grid:#e5e7eb; --ours:#0b6e4f; --drop:#5aa287; --other:#b3bfcc; }
@media (prefers-color-scheme: dark) {
  :root { --ground:#15181c; --ink:#e8eaed; --faint:#9aa3ad; --grid:#2c3239; --ours:#3ecf9a; --drop:#2b8a68; --other:#56616d; } }
body { background:var(--ground); color:var(--ink); font:15px/1.45 system-ui,sans-serif; max-width:1120px; margin:2em auto;
  padding:0 1em; }
h1 { font-size:1.4em; margin-bottom:.2em } h2 { font-size:1.05em; margin:.2em 0 .4em } p, figcaption { color:var(--faint) }
.plots { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr)); gap:1.6em 2em }
figure { margin:0 } svg { width:100%; height:auto; overflow:visible } figcaption { font-size:.85em }
text { fill:var(--ink); font-size:13px } .faint { fill:var(--faint); font-size:11px }
.ours { fill:var(--ours) } .drop { fill:var(--drop) } .other { fill:var(--other) } .bold { font-weight:700 }
line.grid { stroke:var(--grid) } path { fill:none; stroke-width:1.6 } path.ours { stroke:var(--ours); stroke-width:3; fill:none }
path.drop { stroke:var(--drop); fill:none; stroke-width:2.2 } path.other { stroke:var(--other); fill:none }
.mark { stroke:var(--ground); stroke-width:1.5 } .span { stroke:var(--ink); stroke-width:1 }
.scroll { overflow-x:auto } table { border-collapse:collapse; margin-top:1em; font-variant-numeric:tabular-nums }
th, td { padding:.25em .7em; text-align:right; border-bottom:1px solid var(--grid); white-space:nowrap }
th:first-child, td:first-child { text-align:left } .best { font-weight:700; color:var(--ours) }
"""


def kind_of(name):
    return {OURS[0]: "ours", OURS[1]: "drop"}.get(name, "other")


def label(name, y):
    weight = " bold" if name in OURS else ""
    return (f'<text class="name{weight}" x="{LEFT - 8}" y="{y + 4}" '
            f'text-anchor="end">{html.escape(name)}</text>')


def svg(height, parts):
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{"".join(parts)}</svg>'


def figure(title, caption, drawing):
    return f"<figure><h2>{title}</h2>{drawing}<figcaption>{caption}</figcaption></figure>"


def bars(contenders, values_of, text_of):
    """One bar from zero per contender, with a whisker over its rounds."""
    span = WIDTH - LEFT - RIGHT
    values = {c["name"]: values_of(c) for c in contenders}  # (low, middle, high)
    longest = max(high for _, _, high in values.values()) or 1
    parts = []
    for i, (name, (low, middle, high)) in enumerate(values.items()):
        y = ROW * i + ROW / 2
        x = [LEFT + span * value / longest for value in (low, middle, high)]
        parts += [label(name, y), f'<rect class="{kind_of(name)}" x="{LEFT}" y="{y - 8}" height="16" rx="2" '
                  f'width="{max(x[1] - LEFT, 1):.1f}"/>',
                  f'<line class="span" x1="{x[0]:.1f}" x2="{x[2]:.1f}" y1="{y}" '
                  f'y2="{y}"/>', f'<text x="{x[2] + 6:.1f}" y="{y + 4}">{text_of(middle)}</text>']
    return svg(ROW * len(values), parts)


def over_rounds(key):
    def values_of(contender):
        values = [run[key] for run in contender["runs"]]
        return min(values), contender["summary"][key], max(values)
    return values_of


class LogAxis:
    """Milliseconds on a logarithmic scale, with marks at 1, 2 and 5 of each decade."""

    def __init__(self, least, most):
        self.low, self.high = math.log(least * 0.9), math.log(max(most, least * 1.5) * 1.05)

    def x(self, value):
        return LEFT + (WIDTH - LEFT - 12) * (math.log(max(value, 1)) - self.low) / (self.high - self.low)

    def marks(self, height):
        parts = []
        for power in range(3, 11):
            for step in (1, 2, 5):
                value = step * 10**power
                if self.low <= math.log(value) <= self.high:
                    x = self.x(value)
                    parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}"/>'
                                 f'<text class="faint" x="{x:.1f}" y="{height + 14}" text-anchor="middle">'
                                 f"{value / 1e6:g} ms</text>")
        return parts


def all_ticks(contender):
    return sorted(t for run in contender["runs"] for t in run["tick_wall_nanoseconds"])


def tick_titles(contenders):
    """Key and title of each figure of ticks that all contenders have."""
    return [(key, title.removeprefix("tick "))
            for key, title, *_ in shown_figures([c["summary"] for c in contenders])
            if key.startswith("tick_")]


def tick_ranges(contenders):
    """The durations of tick_titles() as dots on one line per contender."""
    keys = [(key, 6.5 - 0.75 * i) for i, (key, _) in enumerate(tick_titles(contenders))]
    values = [c["summary"][key] for c in contenders for key, _ in keys]
    axis, height = LogAxis(min(values), max(values)), ROW * len(contenders)
    parts = axis.marks(height)
    for i, contender in enumerate(contenders):
        y, summary, kind = ROW * i + ROW / 2, contender["summary"], kind_of(contender["name"])
        parts += [label(contender["name"], y), f'<line class="span" x1="{axis.x(summary["tick_p50"]):.1f}" '
                  f'x2="{axis.x(summary["tick_max"]):.1f}" y1="{y}" y2="{y}"/>']
        parts += [f'<circle class="mark {kind}" cx="{axis.x(summary[key]):.1f}" cy="{y}" r="{radius}"/>'
                  for key, radius in keys]
    return svg(height + 20, parts)


def tick_tails(contenders):
    """How many ticks in a thousand took longer than so long."""
    ticks = {c["name"]: all_ticks(c) for c in contenders}
    axis = LogAxis(min(t[0] for t in ticks.values()), max(t[-1] for t in ticks.values()))
    height, floor = 230, 1 / max(len(t) for t in ticks.values())
    parts = axis.marks(height)
    for share in (1, 0.1, 0.01, 0.001):
        if share >= floor:
            y = height * math.log(share) / math.log(floor)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}"/>'
                         f'<text class="faint" x="{LEFT - 8}" y="{y + 4:.1f}" '
                         f'text-anchor="end">{share:.1%}</text>')
    for name in sorted(ticks, key=lambda name: name in OURS):
        durations = ticks[name]
        points = [f"{axis.x(value):.1f},"
                  f"{height * math.log((len(durations) - i) / len(durations)) / math.log(floor):.1f}"
                  for i, value in enumerate(durations)]
        parts.append(f'<path class="{kind_of(name)}" '
                     f'd="M{" L".join(points)}"><title>{html.escape(name)}</title></path>')
    return svg(height + 20, parts)


def table(contenders):
    figures = shown_figures([c["summary"] for c in contenders])
    rows = ["<tr><th></th>" + "".join(f"<th>{title}, {unit}</th>" for _, title, unit, *_ in figures)
            + "</tr>"]
    for contender in contenders:
        cells = []
        for key, _, _, factor, digits, more_is_better in figures:
            values = [c["summary"][key] for c in contenders]
            best = None if more_is_better is None else max(values) if more_is_better else min(values)
            mark = ' class="best"' if contender["summary"][key] == best else ""
            cells.append(f'<td{mark}>{contender["summary"][key] * factor:,.{digits}f}</td>')
        rows.append(f'<tr><td>{html.escape(contender["name"])}</td>{"".join(cells)}</tr>')
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def render(results):
    contenders = [c for c in results["contenders"] if c["summary"]]
    machine = results["machine"]
    rounds = max(len(c["runs"]) for c in contenders)
    plots = [
        figure("Packets per second", "Median of rounds; the line spans all rounds. More is better.",
               bars(contenders, over_rounds("packets_per_second"), lambda v: f"{v / 1000:,.0f} k")),
        figure("CPU per packet", "User and system time of the server. Less is better.",
               bars(contenders, over_rounds("cpu_microseconds_per_packet"), lambda v: f"{v:.3f} us")),
        figure("Tick duration",
               f"{', '.join(title for _, title in tick_titles(contenders))}, from large dot to small. "
               "Left is better.",
               tick_ranges(contenders)),
        figure("Ticks that took longer", "Share of all ticks beyond each duration. Strong line: tarn pools.",
               tick_tails(contenders)),
        figure("Peak RSS", "Of the server, whole process. Less is better.",
               bars(contenders, over_rounds("peak_rss_bytes"), lambda v: f"{v / 2**20:.1f} MiB")),
        figure("Idle RSS", "Half a second after the last bot has left. Less is better.",
               bars(contenders, over_rounds("idle_rss_bytes"), lambda v: f"{v / 2**20:.1f} MiB")),
    ]
    failures = "".join(f"<p>Failed: {html.escape(n)}: {html.escape(f)}</p>"
                       for n, f in results["failures"].items())
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width">'
            f"<title>The game server on each kind of memory</title><style>{STYLE}</style>"
            f"<h1>The game server on each kind of memory</h1><p>{results['bots']} bots, {rounds} rounds of "
            f"{results['measured_seconds_per_run']:.1f} s each, interleaved, seed {results['seed']}. "
            f"{html.escape(machine['cpu'])}, {machine['cores']} cores, {html.escape(machine['kernel'])}, "
            f"{results['date'][:10]}.</p>{failures}<div "
            f"class='plots'>{''.join(plots)}</div>{table(contenders)}</html>\n")
