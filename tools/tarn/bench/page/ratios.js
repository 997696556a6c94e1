// How much longer than the best, and how much larger than the leanest: per row, and as geometric means over rows.

// A row whose best is zero has no ratios.
function timeRatios(rows) {
  return ratiosTo(
    rows.filter((row) => bestMedian(row) > 0),
    (result) => result.median,
  );
}

// Where no peak is known, it is zero.
function memoryRatios(rows) {
  return ratiosTo(rows, (result) => result.peak);
}

// Map of contender to its ratios, one for each row it has a figure in.
function ratiosTo(rows, figureOf) {
  const ratios = new Map();
  for (const row of rows) {
    const known = row.results.filter((result) => figureOf(result) > 0);
    const best = Math.min(...known.map(figureOf));
    for (const result of known) {
      if (!ratios.has(result.c)) ratios.set(result.c, []);
      ratios.get(result.c).push(figureOf(result) / best);
    }
  }
  return ratios;
}

// A mean over far fewer rows than the others' is not comparable with theirs: it is shown apart and never called best.
const WHOLE_SHARE = 0.9;

// [{c, mean, rows, isPart, isBest}] in the order of contenders; `rows` of them had this contender.
function meansOf(ratios) {
  const most = Math.max(0, ...[...ratios.values()].map((values) => values.length));
  const means = [...ratios].map(([c, values]) => ({
    c,
    mean: geometricMean(values),
    rows: values.length,
    isPart: values.length < WHOLE_SHARE * most,
  }));
  const best = Math.min(...means.filter(({ isPart }) => !isPart).map(({ mean }) => mean));
  return means.map((entry) => ({ ...entry, isBest: !entry.isPart && entry.mean === best })).sort((a, b) => a.c - b.c);
}

const rowsOf = (source) => source.groups.flatMap((group) => group.rows);

const timedRowsOf = (source) => source.groups.filter((group) => group.unit === "ns").flatMap((group) => group.rows);

const bestMedian = (row) => Math.min(...row.results.map((result) => result.median));
