// Which charts a group of rows gets. A chart is {title, caption(looks), draw(looks)}; `looks` are the contenders shown.

const MOST_LINES = 9;
const MOST_COLUMNS = 8;

function chartsOf(group) {
  const unit = unitOf(group.unit);
  const rows = group.rows.filter((row) => row.results.length);
  const warm = rows.filter((row) => !row.cold);
  // A group of cold rows only says so itself: they are what it is about.
  if (!warm.length) return warmCharts(group.axis, rows, unit, group);
  const cold = rows.filter((row) => row.cold);
  return [...warmCharts(group.axis, warm, unit, group), ...coldCharts(cold, unit, group)];
}

function warmCharts(axis, rows, unit, group) {
  switch (axis) {
    case "bytes":
      return sweeps(rows, BY_BYTES, unit, group);
    case "threads":
      return sweeps(rows, BY_THREADS, unit, group);
    case "percentile":
      return percentileCharts(rows, unit, group);
    case "time":
      return [...timelineCharts(rows), ...rows.map((row) => rankOf(row, unit, "At the end"))];
    default:
      return rows.map((row) => rankOf(row, unit));
  }
}

const BY_BYTES = {
  xOf: (row) => row.bytes,
  apartBy: (row) => row.threads,
  apartText: (row) => plural(row.threads, "thread"),
  labelOf: (row, rows) =>
    sizeLabel(
      row.bytes,
      rows.map(({ bytes }) => bytes),
    ),
  placeOf: (row, nth) => nth,
  xTitle: "bytes",
  alwaysApart: false,
};

const BY_THREADS = {
  xOf: (row) => row.threads,
  apartBy: (row) => row.bytes,
  apartText: (row) => (row.bytes > 0 ? `${row.bytes} bytes` : ""),
  labelOf: (row) => String(row.threads),
  placeOf: (row) => Math.log2(Math.max(1, row.threads)),
  xTitle: "threads",
  alwaysApart: true,
};

// One chart per series, or per series and what else would put two rows at one place of the axis.
function sweeps(rows, way, unit, group, prefix = "") {
  const charts = [];
  const isOneSeries = unique(rows.map(({ series }) => series)).length === 1;
  for (const [series, ofSeries] of groupedBy(rows, (row) => row.series)) {
    const isApart = way.alwaysApart || unique(ofSeries.map(way.xOf)).length < ofSeries.length;
    for (const part of groupedBy(ofSeries, (row) => (isApart ? way.apartBy(row) : "")).values()) {
      const more = isApart ? way.apartText(part[0]) : "";
      const title = [prefix, prefix && isOneSeries ? "" : series, more && !series.includes(more) ? more : ""]
        .filter(Boolean)
        .join(", ");
      if (unique(part.map(way.xOf)).length < 2) charts.push(...part.map((row) => rankOf(row, unit, prefix)));
      else charts.push(...sweepCharts(title, part, way, unit, group));
    }
  }
  return charts;
}

function sweepCharts(title, rows, way, unit, group) {
  const ordered = [...rows].sort((a, b) => way.xOf(a) - way.xOf(b));
  const columns = ordered.map((row, nth) => ({
    x: way.placeOf(row, nth),
    label: way.labelOf(row, ordered),
    points: pointsOf(row, unit, `${way.xOf(row)} ${way.xTitle}`),
  }));
  return columnCharts(title, columns, way.xTitle, unit, group.unit);
}

function pointsOf(row, unit, where) {
  const best = bestMedian(row);
  return row.results.map((result) => ({
    c: result.c,
    y: result.median,
    low: result.low,
    high: result.high,
    best: result.best,
    ratio: best > 0 ? result.median / best : 1,
    tip: (look) => tipOf(look, where, result, unit),
  }));
}

function tipOf(look, where, result, unit) {
  const spread = result.high > result.low ? ` (${unit.text(result.low)} to ${unit.text(result.high)})` : "";
  const rank = result.best ? ", best" : result.equal ? ", equal to the best" : "";
  return `${look.name}, ${where}: ${unit.text(result.median)}${spread}${rank}`;
}

// Lines for a handful of contenders, a grid of figures for more; a grid has room for so many columns only.
function columnCharts(title, columns, xTitle, unit, unitName) {
  const counts = columns.map(({ points }) => points.length);
  if (Math.max(...counts) <= MOST_LINES || columns.length <= MOST_COLUMNS)
    return [columnChart(title, columns, xTitle, unit, unitName)];
  const parts = Math.ceil(columns.length / MOST_COLUMNS),
    size = Math.ceil(columns.length / parts);
  return Array.from({ length: parts }, (_, i) => columns.slice(i * size, (i + 1) * size)).map((part) =>
    columnChart(`${title}, ${part[0].label} to ${part.at(-1).label}`, part, xTitle, unit, unitName),
  );
}

function columnChart(title, columns, xTitle, unit, unitName) {
  const seriesOf = (looks) =>
    looks
      .map((look) => ({
        look,
        points: columns.flatMap(({ x, points, isApart }) =>
          points
            .filter(({ c, y }) => c === look.index && y > 0)
            .map((point) => ({ ...point, x, isApart, tip: point.tip(look) })),
        ),
      }))
      .filter(({ points }) => points.length);
  const hasLines = (series) => series.length <= MOST_LINES && columns.length > 1;
  const thousands = columns.some(({ points }) => unitName === "ns" && points.some(({ y }) => y >= 9999.5));
  return {
    title,
    caption: (looks) =>
      hasLines(seriesOf(looks))
        ? `${unit.per}, logarithmic scale`
        : `${unit.per}${thousands ? " (k: thousands, M: millions)" : ""}; framed: best of its column; ` +
          "stronger colour: more times the best",
    draw: (looks) => {
      const series = seriesOf(looks);
      if (!series.length) return null;
      const chart = { series, ticks: columns, xTitle, unit, unitName, label: `${title}: ${unit.per}` };
      return hasLines(series) ? lineChart(chart) : gridChart(chart);
    },
  };
}

const nameWithoutCold = (row) => row.name.replace(/^cold(\/|$)/, "");

function rankOf(row, unit, prefix = "") {
  const entriesOf = (looks) =>
    pointsOf(row, unit, row.name)
      .filter(({ y }) => y > 0)
      .map((point) => ({ ...point, look: looks.find(({ index }) => index === point.c) }))
      .filter(({ look }) => look)
      .map((point) => ({ ...point, tip: point.tip(point.look) }));
  return {
    title: [prefix, nameWithoutCold(row)].filter(Boolean).join(", ") || row.name,
    caption: (looks) => `${unit.per}, ${isOnLogScale(entriesOf(looks)) ? "logarithmic scale" : "from zero"}`,
    draw: (looks) => {
      const entries = entriesOf(looks);
      return entries.length ? rankChart({ entries, unit, label: `${row.name}: ${unit.per}` }) : null;
    },
  };
}

const COLD_TITLE = "First batch in a fresh process";

function coldCharts(rows, unit, group) {
  const differ = (key) => unique(rows.map(key)).length > 1;
  return sweeps(rows, differ((row) => row.bytes) ? BY_BYTES : BY_THREADS, unit, group, COLD_TITLE);
}

// Rows named p50, p99, ... and the percentiles among the details of any of them, one curve per contender.
function percentileCharts(rows, unit, group) {
  const isPercentile = (row) => percentileOfRow(row) !== null;
  const charts = [];
  for (const part of groupedBy(
    rows.filter(isPercentile),
    (row) => `${kindOf(row)} ${row.bytes} ${row.threads}`,
  ).values()) {
    const columns = percentileColumns(part, unit);
    if (columns.length > 1)
      charts.push(columnChart(kindOf(part[0]) || "Percentiles", columns, "percentile", unit, group.unit));
    else charts.push(...part.map((row) => rankOf(row, unit)));
  }
  return [...charts, ...rows.filter((row) => !isPercentile(row)).map((row) => rankOf(row, unit))];
}

// A row is a percentile by its series or its name; what else its series says tells kinds of calls apart.
const percentileOfRow = (row) => percentileOf(row.series) ?? percentileOf(row.name);
const kindOf = (row) => (percentileOf(row.series) === null ? row.series : "");

function percentileOf(name) {
  const found = name.match(/(?:^|\/)p(\d+(?:\.\d+)?)(?:_ns)?$/);
  return found ? Number(found[1]) : null;
}

function percentileColumns(rows, unit) {
  const figures = new Map(); // percentile -> contender -> result
  const add = (percentile, result) => {
    if (!figures.has(percentile)) figures.set(percentile, new Map());
    if (result.median > 0 && !figures.get(percentile).has(result.c)) figures.get(percentile).set(result.c, result);
  };
  for (const row of rows) for (const result of row.results) add(percentileOfRow(row), result);
  for (const row of rows)
    for (const { c, details = {} } of row.results) {
      for (const [name, median] of Object.entries(details)) {
        if (name === "max_ns") add(100, { c, median });
        else if (percentileOf(name) !== null) add(percentileOf(name), { c, median });
      }
    }
  const known = [...figures.keys()].sort((a, b) => a - b);
  const placeOf = (percentile) => -Math.log10(1 - percentile / 100);
  const last = placeOf(known.filter((percentile) => percentile < 100).at(-1));
  return known.map((percentile) =>
    percentileColumn(
      percentile,
      [...figures.get(percentile).values()],
      percentile < 100 ? placeOf(percentile) : last + 0.8,
      unit,
    ),
  );
}

function percentileColumn(percentile, results, x, unit) {
  const label = percentile < 100 ? `p${percentile}` : "max";
  return {
    x,
    label,
    isApart: percentile === 100,
    points: pointsOf({ results }, unit, label).map((point) => ({ ...point, best: point.ratio === 1 })),
  };
}

function timelineCharts(rows) {
  return rows
    .filter((row) => row.results.some(({ timeline }) => timeline?.length))
    .map((row) => ({
      title: [nameWithoutCold(row), "Resident memory over time"].filter(Boolean).join(", "),
      caption: () => "resident memory of the process, from zero",
      draw: (looks) => timelineOf(row, looks),
    }));
}

function timelineOf(row, looks) {
  const series = looks.flatMap((look) =>
    row.results
      .filter(({ c, timeline }) => c === look.index && timeline?.length)
      .map(({ timeline }) => ({
        look,
        isPlain: true,
        points: timeline.map(([ms, kib]) => ({ x: ms / 1000, y: kib * KIB })),
      })),
  );
  if (!series.length) return null;
  const last = Math.max(...series.map(({ points }) => points.at(-1).x));
  const ticks = evenTicks(0, last, 6).map((x) => ({ x, label: String(x) }));
  if (last > ticks.at(-1).x) ticks.push({ x: last, label: "" });
  return lineChart({
    series,
    ticks,
    xTitle: "seconds",
    unit: UNITS.bytes,
    label: `${row.name}: resident memory over time`,
    isFromZero: true,
  });
}
