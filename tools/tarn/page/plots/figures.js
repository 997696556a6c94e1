// The figures: bars, lines (over sizes or threads), curves (over time), and a scatter of two figures. Each
// takes its part of the document, what contenders are shown and how wide it is, and returns an <svg>.

const STEP = 18; // of bars and of names below each other

const picture = (width, height, label, ...nodes) =>
  svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, nodes);
const line = (kind, x1, y1, x2, y2) => svg("line", { class: kind, x1, y1, x2, y2 });
const label = (text, x, y, anchor = "middle", kind = "tick") =>
  svg("text", { class: kind, x, y, "text-anchor": anchor }, text);
const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
const marker = ({ marker, index }, x, y, kind = "mark") =>
  svg("path", { class: kind, "data-c": index, d: marker, transform: `translate(${at(x, y)})` });
const ofLook = (look, ...nodes) =>
  svg("g", { class: look.ours ? "contender ours" : "contender", style: `--c:${look.colour}` }, nodes);
const nameAt = (look, x, y, anchor, width) =>
  label(shortened(look.name, width, look.ours), x, y, anchor, look.ours ? "name ours" : "name");
const tip = (text) => svg("title", {}, text);
const widest = (looks, most) =>
  Math.min(most, Math.max(0, ...looks.map(({ name, ours }) => textWidth(name, ours))));

function spreadText(value, low, high, unit) {
  const span = high > low ? ` (${figureText(low, unit)} to ${figureText(high, unit)})` : "";
  return figureText(value, unit) + span;
}

// One bar from zero per contender; dots where the scale is logarithmic, which has no zero.
function barsFigure({ title, axis, bars, reference }, looks, width) {
  const shown = bars.filter(({ c }) => looks[c]);
  if (!shown.length) return null;
  const names = widest(shown.map(({ c }) => looks[c]), width * 0.36);
  const texts = shown.map(({ value }) => figureText(value, axis.unit));
  const left = names + 10, right = width - 10 - Math.max(...texts.map((text) => textWidth(text, true)));
  const values = shown.flatMap(({ value, high }) => [value, high ?? value]).concat(reference ?? []);
  const scale = scaleOf(axis, values, left, right, 52);
  const bottom = STEP * shown.length + 4;
  const grid = scale.ticks.map((tick) => [
    line("grid", scale.place(tick), 0, scale.place(tick), bottom),
    label(tickText(tick, axis.unit), scale.place(tick), bottom + 14),
  ]);
  const rows = shown.map(({ c, value, low, high, note }, i) => {
    const y = STEP * (i + 0.5) + 2, look = looks[c], end = scale.place(value);
    const box = { class: "mark bar", "data-c": c, x: left, y: y - 6, height: 12, rx: 2 };
    return ofLook(
      look,
      tip(`${look.name}: ${spreadText(value, low, high, axis.unit)}${note ? `, ${note}` : ""}`),
      nameAt(look, names, y + 4, "end", names),
      axis.log
        ? [line("guide", left, y, right, y), marker(look, end, y)]
        : svg("rect", { ...box, width: Math.max(1, end - left) }),
      high > low && line("whisker", scale.place(low), y, scale.place(high), y),
      label(texts[i], width, y + 4, "end", i === 0 ? "figure first" : "figure"),
    );
  });
  const mark = reference && line("reference", scale.place(reference), 0, scale.place(reference), bottom);
  return picture(width, bottom + 20, title, grid, rows, mark);
}

function bottomAxis(x, scale, left, right, bottom) {
  const ticks = x.labels
    ? x.labels.map((text, i) => [scale.place(i), text])
    : scale.ticks.map((tick) => [scale.place(tick), tickText(tick, x.unit)]);
  const wide = Math.max(...ticks.map(([, text]) => textWidth(text)));
  const isSlanted = ticks.some(([place], i) => i > 0 && place - ticks[i - 1][0] < wide + 4);
  const depth = isSlanted ? wide * 0.8 + 12 : 16;
  const slanted = (place) => `translate(${place + 4} ${bottom + 12}) rotate(-50)`;
  const texts = ticks.map(([place, text]) => isSlanted
    ? svg("text", { class: "tick slanted", "text-anchor": "end", transform: slanted(place) }, text)
    : label(text, place, bottom + 14));
  const strokes = ticks.map(([place]) => line("grid", place, x.labels ? bottom : 0, place, bottom + 4));
  const title = label(x.title, (left + right) / 2, bottom + depth + 13);
  return { nodes: [strokes, texts, title], depth: depth + 19 };
}

// Both axes of points [x, y, ...], with their scales; at the right is room for names.
function axesOf({ x, y }, points, width, height, room) {
  const rise = scaleOf(y, points.flatMap(([, ...values]) => values), height - 4, 10, 24);
  const left = Math.max(...rise.ticks.map((tick) => textWidth(tickText(tick, y.unit)))) + 8;
  const right = width - room;
  const step = (right - left - 16) / Math.max(1, (x.labels?.length ?? 1) - 1);
  const scale = x.labels
    ? { place: (i) => left + 8 + i * step }
    : scaleOf(x, points.map(([value]) => value), left + 2, right, 56);
  const foot = bottomAxis(x, scale, left, right, height);
  const grid = rise.ticks.map((tick) => [
    line("grid", left, rise.place(tick), right, rise.place(tick)),
    label(tickText(tick, y.unit), left - 5, rise.place(tick) + 4, "end"),
  ]);
  return { scale, rise, left, right, nodes: [grid, foot.nodes], height: height + foot.depth };
}

// Lines with their names at their ends. A series without a contender has a name of its own and is dashed.
function linesFigure(part, looks, width) {
  const shown = part.series
    .map((one) => ({ ...one, look: "c" in one ? looks[one.c] : { name: one.name, isAside: true } }))
    .filter(({ look }) => look)
    .sort((a, b) => !!a.look.ours - !!b.look.ours);
  if (!shown.length) return null;
  const names = widest(shown.map(({ look }) => look), width * 0.3);
  const height = Math.max(190, shown.length * 14 + 10);
  const axes = axesOf(part, shown.flatMap(({ points }) => points), width, height, names + 26);
  const { scale, rise, right } = axes;
  const ends = spreadApart(shown.map(({ points }) => rise.place(points.at(-1)[1])), 14, 8, height - 2);
  const lines = shown.map(({ look, points }, i) => {
    const places = points.map(([from, value]) => [scale.place(from), rise.place(value)]);
    const path = `M${places.map((place) => at(...place)).join("L")}`;
    const [endX, endY] = places.at(-1);
    const leader = `M${at(endX + 4, endY)}L${at(right + 6, endY)}L${at(right + 16, ends[i])}`;
    return ofLook(
      look,
      tip(look.name),
      svg("path", { class: `mark line${look.isAside ? " aside" : ""}`, "data-c": look.index, d: path,
        "stroke-dasharray": look.dash }),
      points.map(([from, , low, high]) => high > low &&
        line("whisker", scale.place(from), rise.place(low), scale.place(from), rise.place(high))),
      part.kind === "lines" && places.map(([px, py]) => marker(look, px, py)),
      svg("path", { class: "leader", d: leader }),
      nameAt(look, right + 20, ends[i] + 4, "start", names),
    );
  });
  const drawn = picture(width, axes.height, part.title, axes.nodes, lines);
  drawn.readingAt = (place) => readingAt(shown, part, scale, place);
  return drawn;
}

// What all lines say at a place of the picture: at the nearest point of the longest of them.
function readingAt(shown, { x, y }, scale, place) {
  const distance = ([from]) => Math.abs(scale.place(from) - place);
  const nearest = (points) => points.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  const longest = shown.reduce((most, { points }) => (points.length > most.length ? points : most), []);
  const [from] = nearest(longest);
  const texts = shown.map(({ look, points }) => `${look.name} ${figureText(nearest(points)[1], y.unit)}`);
  return `${x.labels ? x.labels[from] : tickText(from, x.unit)}: ${texts.join(", ")}`;
}

function scatterFigure(part, looks, width) {
  const { title, x, y, points } = part;
  const shown = points.filter(({ c }) => looks[c]).sort((a, b) => !!looks[b.c].ours - !!looks[a.c].ours);
  if (!shown.length) return null;
  const height = 150 + 9 * shown.length;
  const axes = axesOf(part, shown.map((point) => [point.x, point.y]), width, height, 12);
  const { scale, rise, left } = axes;
  const dots = shown.map((point) =>
    ({ look: looks[point.c], px: scale.place(point.x), py: rise.place(point.y), point }));
  const taken = dots.map(({ px, py }) => ({ left: px - 4, right: px + 4, top: py - 4, bottom: py + 4 }));
  const nodes = dots.map(({ look, px, py, point }) => ofLook(
    look,
    tip(`${look.name}: ${x.title} ${figureText(point.x, x.unit)}, ${y.title} ${figureText(point.y, y.unit)}`),
    marker(look, px, py, point.part ? "mark part" : "mark"),
    nameBeside(look, px, py, taken, { left, right: width, top: 0, bottom: height }),
  ));
  return picture(width, axes.height, title, axes.nodes, nodes);
}

// The name where it covers nothing, with a line to it where that is further away; or none: colours tell it.
function nameBeside(look, px, py, taken, frame) {
  const width = Math.min(textWidth(look.name, look.ours), 130);
  const sides = [[7, 0], [-7 - width, 0], [-width / 2, -12], [-width / 2, 12]];
  for (const rise of [10, 22, 34]) sides.push([6, -rise], [6, rise], [-6 - width, -rise], [-6 - width, rise]);
  for (const [dx, dy] of sides) {
    const box = { left: px + dx, right: px + dx + width, top: py + dy - 6, bottom: py + dy + 6 };
    if (!isWithin(box, frame) || taken.some((other) => areCrossing(box, other))) continue;
    taken.push(box);
    const [endX, endY] = [px + Math.sign(dx) * 5, py + dy - Math.sign(dy) * 6];
    const leader = Math.abs(dy) > 12 && line("leader", px, py, endX, endY);
    return [leader, nameAt(look, box.left, py + dy + 4, "start", 130)];
  }
  return null;
}

const isWithin = (box, frame) =>
  box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
const areCrossing = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const FIGURES = { bars: barsFigure, lines: linesFigure, curves: linesFigure, scatter: scatterFigure };
