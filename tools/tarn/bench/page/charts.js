// The forms a chart can have: lines, a grid of figures, bars or dots per contender, and memory against time.
// Each takes series [{look, points: [{x, y, low, high, tip, ...}]}] or the like, and returns an <svg>.

const AXIS_BOTTOM = 34;

function xAxis(ticks, place, left, right, bottom, title) {
  const widest = Math.max(...ticks.map(({ label }) => textWidth(label, false, 11)));
  const gaps = ticks.slice(1).map((tick, i) => place(tick.x) - place(ticks[i].x));
  const isSlanted = widest + 5 > Math.min(Infinity, ...gaps);
  const depth = isSlanted ? 8 + widest * 0.82 : 14;
  const labels = ticks.map(({ x, label }) =>
    isSlanted
      ? svg(
          "text",
          {
            class: "tick",
            "text-anchor": "end",
            transform: `translate(${(place(x) + 4).toFixed(1)} ${bottom + 13}) rotate(-55)`,
          },
          label,
        )
      : svg("text", { class: "tick", "text-anchor": "middle", x: place(x), y: bottom + 15 }, label),
  );
  const lines = ticks.map(({ x }) =>
    svg("line", { class: "grid", x1: place(x), x2: place(x), y1: bottom, y2: bottom + 4 }),
  );
  const caption = svg(
    "text",
    { class: "tick", "text-anchor": "middle", x: (left + right) / 2, y: bottom + depth + 17 },
    title,
  );
  return { nodes: [lines, labels, caption], height: depth + 22 };
}

function yGrid(scale, unit, left, right) {
  return scale.ticks.map((value) => [
    svg("line", { class: "grid", x1: left, x2: right, y1: scale.place(value), y2: scale.place(value) }),
    svg("text", { class: "tick", "text-anchor": "end", x: left - 6, y: scale.place(value) + 4 }, unit.tick(value)),
  ]);
}

// Lines with their names at the right, moved apart where they end close together.
function lineChart({ series, ticks, xTitle, unit, label, isFromZero = false }) {
  const names = nameWidth(
    series.map(({ look }) => look),
    108,
  );
  const left = 50,
    right = WIDTH - names - 32,
    top = 8;
  const height = Math.max(186, series.length * LINE_STEP);
  const bottom = top + height;
  const xs = ticks.map(({ x }) => x);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const inset = isFromZero ? 0 : 8;
  const placeX = (x) => left + inset + ((x - first) / (last - first || 1)) * (right - left - 2 * inset);
  const values = series.flatMap(({ points }) =>
    points.flatMap(({ y, low, high }) => [y, low, high].filter((value) => value > 0)),
  );
  const scale = isFromZero ? zeroScale(values, bottom, top, unit) : logScale(values, bottom, top, unit);
  const heights = spreadApart(
    series.map(({ points }) => scale.place(points.at(-1).y)),
    LINE_STEP,
    top + 4,
    bottom - 4,
  );
  const axis = xAxis(ticks, placeX, left, right, bottom, xTitle);
  const drawn = series.map((line, i) => [line.look.isOurs, oneLine(line, placeX, scale, right, heights[i], names)]);
  return chartFrame(
    bottom + axis.height,
    label,
    yGrid(scale, unit, left, right),
    axis.nodes,
    drawn.filter(([isOurs]) => !isOurs).map(([, node]) => node),
    drawn.filter(([isOurs]) => isOurs).map(([, node]) => node),
  );
}

function oneLine({ look, points, isPlain }, placeX, scale, right, labelHeight, names) {
  const places = points.map((point) => ({ ...point, px: placeX(point.x), py: scale.place(point.y) }));
  const at = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const path = (part) => part.map(({ px, py }) => at(px, py)).join("L");
  const end = places.at(-1);
  const solid = places.filter(({ isApart }) => !isApart);
  const tail = end.isApart && places.length > 1 ? places.slice(-2) : [];
  return contenderGroup(
    look,
    solid.length > 1 &&
      svg("path", {
        class: "line",
        d: `M${path(solid)}`,
        "stroke-dasharray": look.dash || null,
        "data-tip": look.name,
      }),
    tail.length && svg("path", { class: "line apart", d: `M${path(tail)}` }),
    places.map(({ px, low, high }) => low > 0 && high > low && whisker(px, px, scale.place(low), scale.place(high))),
    isPlain
      ? svg("path", { class: "mark trace", "data-c": look.index, "data-tip": look.name, d: `M${path(places)}` })
      : places.map(({ px, py, tip }) => markerAt(look, px, py, 3, tip)),
    svg("path", {
      class: "leader",
      d: `M${at(end.px + 5, end.py)}L${at(right + 4, end.py)}L${at(right + 14, labelHeight)}`,
    }),
    svg("path", {
      class: "key",
      d: MARKER_PATHS[look.marker](3),
      transform: `translate(${right + 20} ${labelHeight.toFixed(1)})`,
    }),
    nameText(look, right + 27, labelHeight + 4, names),
  );
}

// Shorter ones would only smear the marker.
const whisker = (x1, x2, y1, y2) =>
  Math.abs(x2 - x1) + Math.abs(y2 - y1) > 3 && svg("line", { class: "whisker", x1, x2, y1, y2 });

// One line of figures per contender: more than a handful of lines cross too often to be followed.
function gridChart({ series, ticks, xTitle, unitName, label }) {
  const looks = series.map(({ look }) => look);
  const names = nameWidth(looks, 122),
    step = 16,
    top = 34;
  const left = names + 18;
  const width = (WIDTH - left) / ticks.length;
  const middle = (i) => left + width * (i + 0.5);
  const heads = ticks.map((tick, i) =>
    svg("text", { class: "tick", "text-anchor": "middle", x: middle(i), y: top - 7 }, tick.label),
  );
  const title = svg("text", { class: "tick", "text-anchor": "middle", x: (left + WIDTH) / 2, y: 11 }, xTitle);
  const ordered = series
    .map((line) => ({ ...line, mean: geometricMean(line.points.map(({ ratio }) => ratio)) }))
    .sort((a, b) => b.points.length - a.points.length || a.mean - b.mean);
  const lines = ordered.map((line, i) =>
    gridLine(line, ticks, { y: top + step * i, step, left, width, names, middle, unitName }),
  );
  return chartFrame(top + step * series.length + 2, label, title, heads, lines);
}

function gridLine({ look, points }, ticks, { y, step, left, width, names, middle, unitName }) {
  const cells = ticks.map((tick, i) => {
    const point = points.find(({ x }) => x === tick.x);
    if (!point) return svg("text", { class: "tick", "text-anchor": "middle", x: middle(i), y: y + 12 }, "–");
    const tint = Math.min(1, Math.log(Math.max(1, point.ratio)) / Math.log(20));
    return [
      svg("rect", {
        class: point.best ? "mark cell best" : "mark cell",
        "data-c": look.index,
        "data-tip": point.tip,
        style: `--tint:${tint.toFixed(2)}`,
        x: left + width * i + 0.75,
        y: y + 0.75,
        width: width - 1.5,
        height: step - 1.5,
        rx: 2,
      }),
      svg(
        "text",
        { class: point.best ? "figure bold" : "figure", "text-anchor": "middle", x: middle(i), y: y + 12 },
        cellText(point.y, unitName),
      ),
    ];
  });
  const key = svg("path", { class: "key", d: MARKER_PATHS[look.marker](3), transform: `translate(5 ${y + 8})` });
  return contenderGroup(look, key, nameText(look, 13, y + 12, names), cells);
}

const WIDEST_BARS = 20; // beyond this span the short bars of a linear scale are all alike

// One row: bars from zero; dots on a logarithmic scale where bars would not show the difference.
function rankChart({ entries, unit, label }) {
  const values = entries.flatMap(({ y, high }) => [y, high ?? y]);
  const isLinear = Math.max(...values) / Math.min(...entries.map(({ y }) => y)) <= WIDEST_BARS;
  return ranked({
    entries,
    unit,
    label,
    mark: isLinear ? barMark : dotMark,
    makeScale: (from, to) => (isLinear ? zeroScale : logScale)(values, from, to, unit, { room: ROOM_BESIDE }),
  });
}

const isOnLogScale = (entries) =>
  Math.max(...entries.map(({ y, high }) => Math.max(y, high ?? y))) / Math.min(...entries.map(({ y }) => y)) >
  WIDEST_BARS;

// Ratios to the best: what is drawn starts at 1, so that its length is the logarithm of the ratio.
function ratioChart({ entries, label }) {
  const unit = UNITS.times;
  return ranked({
    entries,
    unit,
    label,
    mark: stemMark,
    makeScale: (from, to) => logScale([1, ...entries.map(({ y }) => y)], from, to, unit, { room: 36, isRatio: true }),
  });
}

function ranked({ entries, unit, label, mark, makeScale }) {
  const names = nameWidth(
      entries.map(({ look }) => look),
      122,
    ),
    step = 17,
    top = 4;
  const texts = entries.map(({ y }) => unit.text(y));
  const left = names + 20,
    right = WIDTH - 12 - Math.max(...texts.map((text) => textWidth(text, true)));
  const scale = makeScale(left, right);
  const isSplit = entries.some(({ isPart }) => isPart);
  const bottom = top + step * (entries.length + (isSplit ? 1 : 0));
  const grid = scale.ticks.map((value) => [
    svg("line", { class: "grid", x1: scale.place(value), x2: scale.place(value), y1: top, y2: bottom + 4 }),
    svg(
      "text",
      { class: "tick", "text-anchor": "middle", x: scale.place(value), y: bottom + 16 },
      value === 0 ? "0" : unit.tick(value),
    ),
  ]);
  const order = entries
    .map((entry, i) => ({ entry, text: texts[i] }))
    .sort((a, b) => !!a.entry.isPart - !!b.entry.isPart || a.entry.y - b.entry.y);
  const whole = order.filter(({ entry }) => !entry.isPart).length;
  const lines = order.map(({ entry, text }, i) => {
    const y = top + step * (i + 0.5 + (entry.isPart ? 1 : 0));
    return contenderGroup(
      entry.look,
      svg("path", { class: "key", d: MARKER_PATHS[entry.look.marker](3), transform: `translate(5 ${y})` }),
      nameText(entry.look, 13, y + 4, names),
      mark(entry, scale, y, left, right),
      svg(
        "text",
        { class: i === 0 && whole ? "figure bold" : "figure", "text-anchor": "end", x: WIDTH, y: y + 4 },
        text,
      ),
    );
  });
  const part =
    isSplit && svg("text", { class: "tick", x: 0, y: top + step * (whole + 0.5) + 4 }, "In only some of the rows:");
  return chartFrame(bottom + 22, label, grid, lines, part);
}

function barMark({ look, y: value, low, high, tip }, scale, y, left) {
  return [
    svg("rect", {
      class: "mark bar",
      "data-c": look.index,
      "data-tip": tip,
      x: left,
      y: y - 5.5,
      height: 11,
      rx: 1.5,
      width: Math.max(1, scale.place(value) - left),
    }),
    high > low && whisker(scale.place(low), scale.place(high), y, y),
  ];
}

function dotMark({ look, y: value, low, high, tip }, scale, y, left, right) {
  return [
    svg("line", { class: "guide", x1: left, x2: right, y1: y, y2: y }),
    low > 0 && high > low && whisker(scale.place(low), scale.place(high), y, y),
    markerAt(look, scale.place(value), y, 4, tip),
  ];
}

function stemMark({ look, y: value, tip }, scale, y) {
  return [
    svg("line", { class: "stem", x1: scale.place(1), x2: scale.place(value), y1: y, y2: y }),
    markerAt(look, scale.place(value), y, 4, tip),
  ];
}

// Memory against time, both as ratios: the nearer to the lower left corner the better.
function scatterChart({ entries, label }) {
  const unit = UNITS.times,
    left = 44,
    right = WIDTH - 14,
    top = 8,
    bottom = Math.max(250, 150 + entries.length * 12);
  const x = logScale([1, ...entries.map(({ time }) => time)], left + 6, right, unit, { room: 36, isRatio: true });
  const y = logScale([1, ...entries.map(({ memory }) => memory)], bottom - 6, top, unit, { isRatio: true });
  const ordered = [...entries].sort((a, b) => b.look.isOurs - a.look.isOurs);
  const points = ordered.map(({ look, time, memory }) => ({
    x: x.place(time),
    y: y.place(memory),
    width: Math.min(122, textWidth(look.name, look.isOurs)),
  }));
  const places = placeLabels(points, { left: left + 1, right, top: 0, bottom: bottom - 1 });
  const ticks = x.ticks.map((value) => [
    svg("line", { class: "grid", x1: x.place(value), x2: x.place(value), y1: top, y2: bottom }),
    svg("text", { class: "tick", "text-anchor": "middle", x: x.place(value), y: bottom + 15 }, unit.tick(value)),
  ]);
  const title = svg(
    "text",
    { class: "tick", "text-anchor": "middle", x: (left + right) / 2, y: bottom + 31 },
    "time, times the best",
  );
  const nodes = ordered.map((entry, i) => scatterPoint(entry, points[i], places[i]));
  return chartFrame(bottom + AXIS_BOTTOM, label, ticks, yGrid(y, unit, left, right), title, nodes);
}

function scatterPoint({ look, tip, isPart }, { x, y }, place) {
  return contenderGroup(
    look,
    place?.isFar && svg("line", { class: "leader", x1: x, y1: y, x2: place.near.x, y2: place.near.y }),
    fill(markerAt(look, x, y, look.isOurs ? 5 : 4, tip), isPart ? { class: "mark part" } : {}, []),
    place && nameText(look, place.left, place.baseline, 123),
  );
}
